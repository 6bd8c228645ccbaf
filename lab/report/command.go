package report

import (
	"fmt"
	"io"
	"time"

	"github.com/triplemesh/triplemesh/internal/config"
)

// Command is `triplemesh eval report`: flags, and a Run that does what they
// say.
type Command struct {
	Dirs     []string `arg:"" name:"dir" type:"path" help:"Directories of results, or directories that hold several."`
	Out      string   `type:"path" placeholder:"FILE" help:"${report_out}"`
	Markdown string   `type:"path" placeholder:"FILE" help:"Write the tables as Markdown; - prints them."`
	Title    string   `placeholder:"TEXT" help:"Title of the report."`
	Baseline string   `default:"io" placeholder:"METHOD" help:"${report_baseline}"`
}

// Run writes the report and says where. The error says which results could not
// be read.
func (c *Command) Run(stdout io.Writer) error {
	evaluations, err := OpenEvaluations(c.Dirs)
	if err != nil {
		return err
	}
	r := New(evaluations, Options{Title: c.Title, Baseline: c.Baseline, Now: time.Now()})
	if c.Out == "" && c.Markdown == "" {
		c.Out = "report.html"
	}
	if c.Markdown == "-" {
		return r.Markdown(stdout)
	}
	for _, file := range []struct {
		path  string
		write func(io.Writer) error
	}{{c.Out, r.HTML}, {c.Markdown, r.Markdown}} {
		if file.path == "" {
			continue
		}
		size, err := writeFile(file.path, file.write)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(stdout, "%s  %s, %s\n", file.path, plural(len(evaluations), "evaluation"),
			fileSize(size)); err != nil {
			return err
		}
	}
	return nil
}

// writeFile replaces a file as a whole or not at all.
func writeFile(path string, write func(io.Writer) error) (size int64, err error) {
	if size, err = config.ReplaceFileFunc(path, 0o644, write); err != nil {
		return 0, fmt.Errorf("write report: %w", err)
	}
	return size, nil
}

// fileSize writes a size for people.
func fileSize(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
