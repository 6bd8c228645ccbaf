package config

import "runtime/debug"

// Version is what the build was told, else the commit it was built from.
func Version(told string) string {
	if told != "" {
		return told
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return s.Value[:12]
			}
		}
	}
	return "unknown"
}
