package dataset

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/triplemesh/triplemesh/internal/terminal"
)

// FetchCommand is `triplemesh eval fetch`.
type FetchCommand struct {
	Names  []string `arg:"" optional:"" name:"set" help:"Sets to fetch; none lists those there are."`
	Mirror string   `type:"path" placeholder:"DIR" env:"TRIPLEMESH_MIRROR" help:"${fetch_mirror}"`
}

// Run fetches the sets into the folder of sets, or lists them.
func (c *FetchCommand) Run(ctx context.Context, dir string, board *terminal.Board, stdout io.Writer) error {
	sets, err := publishedSets()
	if err != nil {
		return err
	}
	if len(c.Names) == 0 {
		return listSets(stdout, dir, sets)
	}
	f := &fetcher{Dir: dir, Mirror: c.Mirror, Board: board}
	for _, name := range c.Names {
		set, err := findSet(sets, name)
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

func listSets(stdout io.Writer, dir string, sets []publishedSet) error {
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
