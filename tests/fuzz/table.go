package main

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// row is the result of one target.
type row struct {
	target  string
	time    time.Duration
	inputs  int64 // tried
	found   int   // reached new code, in this run
	crashes int
	failed  string // why it could not run, or failed without an input
	late    bool
}

var (
	progress = regexp.MustCompile(`^fuzz: elapsed: .*, execs: (\d+) .*, new interesting: (\d+) `)
	crash    = regexp.MustCompile(`^\s*Failing input written to `)
	seed     = regexp.MustCompile(`^\s*(failure while testing seed corpus entry|fuzzing process hung or terminated)`)
)

// parseLine parses one line of a target's output, and reports whether it was only progress.
func (r *row) parseLine(line string) bool {
	if match := progress.FindStringSubmatch(line); match != nil {
		r.inputs, _ = strconv.ParseInt(match[1], 10, 64)
		r.found, _ = strconv.Atoi(match[2])
		return true
	}
	if crash.MatchString(line) || seed.MatchString(line) {
		r.crashes++
	}
	r.late = r.late || strings.TrimSpace(line) == "context deadline exceeded"
	return strings.HasPrefix(line, "fuzz: elapsed: ")
}

// table writes rows and their sum to out. It fails if a target crashed or could not run.
func table(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "\ntarget\ttime\tinputs\tnew\tcrashes")
	var sum row
	var broken int
	for _, r := range rows {
		verdict := strconv.Itoa(r.crashes)
		if r.failed != "" {
			verdict = r.failed
		}
		if r.crashes > 0 || r.failed != "" {
			broken++
		}
		line(w, r, verdict)
		sum.time += r.time
		sum.inputs += r.inputs
		sum.found += r.found
		sum.crashes += r.crashes
	}
	sum.target = fmt.Sprintf("%d targets", len(rows))
	line(w, sum, strconv.Itoa(sum.crashes))
	if err := w.Flush(); err != nil {
		return err
	}
	if broken > 0 {
		return fmt.Errorf("%d of %d targets failed: what broke one is in its testdata/fuzz, and go test runs it from "+
			"now on", broken, len(rows))
	}
	// As testkit.Measured reports it.
	_, err := fmt.Fprintf(out, "=== ATTR  fuzz measured \"%d targets, %.0f core-minutes, %.1f million inputs: "+
		"0 crashes\"\n", len(rows), sum.time.Minutes(), float64(sum.inputs)/1e6)
	return err
}

func line(w io.Writer, r row, verdict string) {
	_, _ = fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\n", r.target, r.time.Round(time.Second), r.inputs, r.found, verdict)
}
