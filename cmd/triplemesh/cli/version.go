package cli

import (
	"fmt"
	"runtime"
)

type versionCommand struct{}

// Run prints the version, Go's, and the platform.
func (versionCommand) Run(p *program) error {
	_, err := fmt.Fprintf(p.stdout, "triplemesh %s (%s, %s/%s)\n", p.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
