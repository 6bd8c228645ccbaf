package fetch

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/triplemesh/triplemesh/internal/terminal"
)

// Command is `triplemesh eval fetch`.
type Command struct {
	Names  []string `arg:"" optional:"" name:"set" help:"Sets to fetch; none lists those there are."`
	Mirror string   `type:"path" placeholder:"DIR" env:"TRIPLEMESH_MIRROR" help:"${fetch_mirror}"`
}

// HelpTexts are the help texts that are too long for a struct tag: kong variables.
var HelpTexts = map[string]string{
	"fetch_mirror": "Folder with copies of the sets, <set>/<file>, such as the sets folder of another machine; what " +
		"it lacks is downloaded.",
}

// Run fetches the sets into the folder of sets, or lists them.
func (c *Command) Run(ctx context.Context, dir string, board *terminal.Board, stdout io.Writer) error {
	sets, err := Sets()
	if err != nil {
		return err
	}
	if len(c.Names) == 0 {
		return list(stdout, dir, sets)
	}
	f := &Fetcher{Dir: dir, Mirror: c.Mirror, Board: board}
	for _, name := range c.Names {
		set, err := Find(sets, name)
		if err != nil {
			return err
		}
		fetched, err := f.Fetch(ctx, set)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(stdout, "%s: %s\n  licence: %s\n  source:  %s\n", set.Name, set.Title, set.Licence,
			set.Source); err != nil {
			return err
		}
		for _, r := range fetched {
			how := "checksum as pinned"
			if !r.Pinned {
				how = "checksum recorded at the first fetch, not known beforehand"
			}
			if r.Kept {
				how += "; was there"
			}
			if _, err := fmt.Fprintf(stdout, "  %s  sha256 %s (%s)\n", r.Path, r.SHA256[:12], how); err != nil {
				return err
			}
		}
	}
	return nil
}

func list(stdout io.Writer, dir string, sets []Set) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "Set\tFetched\tLicence\tWhat")
	for _, s := range sets {
		fetched := "yes"
		for _, file := range s.Files {
			if _, err := os.Stat(filepath.Join(dir, s.Name, file.Name)); err != nil {
				fetched = "no"
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.Name, fetched, s.Licence, s.Title)
	}
	return table.Flush()
}
