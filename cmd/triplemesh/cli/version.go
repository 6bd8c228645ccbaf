package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{}

// Run prints the version, Go's, and the platform.
func (versionCommand) Run(p *program) error {
	_, err := fmt.Fprintf(p.stdout, "triplemesh %s (%s, %s/%s)\n", p.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// versionText is what the build was told, else the commit it was built from.
func versionText(told string) string {
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
