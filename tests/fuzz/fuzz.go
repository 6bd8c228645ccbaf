package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// fuzz runs every target of packages for the time in o, and writes each target's progress and then
// the table to out. It fails if an input failed a target.
func fuzz(ctx context.Context, packages []suite, scratch string, o options, out io.Writer) error {
	var rows []row
	for _, s := range packages {
		binary := filepath.Join(scratch, "fuzz.test")
		if err := s.build(binary, "-fuzz=Fuzz"); err != nil {
			_, _ = fmt.Fprintln(out, err)
			rows = append(rows, row{target: s.dir, failed: "does not compile"})
			continue
		}
		for _, target := range s.targets {
			if ctx.Err() != nil {
				break
			}
			r, err := s.run(ctx, binary, target, o, out)
			if err != nil {
				return err
			}
			rows = append(rows, r)
		}
	}
	return table(out, rows)
}

// run fuzzes one target with the compiled tests.
func (s suite) run(ctx context.Context, binary, target string, o options, out io.Writer) (row, error) {
	_, _ = fmt.Fprintf(out, "%s %s\n", s.dir, target)
	command := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.fuzz=^"+target+"$",
		"-test.fuzzcachedir="+s.cache,
		"-test.fuzztime="+o.time.String(), "-test.parallel="+strconv.Itoa(o.parallel),
		// Go minimizes an input for up to a minute by default: longer than most targets run at all.
		"-test.fuzzminimizetime=5s")
	command.Dir = s.dir
	output, err := command.StdoutPipe()
	if err != nil {
		return row{}, err
	}
	command.Stderr = command.Stdout
	began := time.Now()
	if err := command.Start(); err != nil {
		return row{}, fmt.Errorf("start %s of %s: %w", target, s.dir, err)
	}
	r := row{target: s.dir + " " + target}
	var tail []string // the target's own output, printed if it fails
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !r.parseLine(lines.Text()) {
			tail = append(tail, lines.Text())
		}
	}
	if _, err := io.Copy(io.Discard, output); err != nil && lines.Err() == nil {
		return row{}, err
	}
	err = command.Wait()
	r.time = time.Since(began)
	var exit *exec.ExitError
	switch {
	case err == nil || ctx.Err() != nil:
	case !errors.As(err, &exit):
		return row{}, err
	case r.late && r.crashes == 0: // a fault of Go: the time ended while an input ran
	default:
		if r.crashes == 0 {
			r.failed = "fails without an input"
		}
		for _, line := range tail {
			_, _ = fmt.Fprintln(out, line)
		}
	}
	return r, nil
}
