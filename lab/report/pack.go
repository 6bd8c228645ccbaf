package report

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/triplemesh/triplemesh/lab/results"
)

// PackCommand is `triplemesh eval pack`: flags, and a Run that does what they say.
type PackCommand struct {
	Dirs []string `arg:"" name:"dir" type:"path" help:"Directories of results, or directories that hold several."`
	Out  string   `required:"" type:"path" placeholder:"DIR" help:"Directory for the packed results."`
}

// Run packs each evaluation into a directory of its own name.
func (c *PackCommand) Run(stdout io.Writer) error {
	dirs, err := ResultDirs(c.Dirs)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		found, err := results.Open(dir)
		if err != nil {
			return err
		}
		to := filepath.Join(c.Out, filepath.Base(dir))
		if err := found.Pack(to); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(stdout, "%s  %s\n", to, plural(found.Len(), "run")); err != nil {
			return err
		}
	}
	return nil
}
