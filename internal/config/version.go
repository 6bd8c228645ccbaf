package config

import (
	"cmp"
	"runtime/debug"
)

// built is what the linker was told, by
// -X github.com/triplemesh/triplemesh/internal/config.built=VERSION.
var built string

// Version is what the program was told, else what its build was, else the commit
// it was built from.
func Version(told string) string {
	if version := cmp.Or(told, built); version != "" {
		return version
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
