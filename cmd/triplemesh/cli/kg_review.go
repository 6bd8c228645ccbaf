package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/propose"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/terminal"
)

type kgReview struct {
	File string `arg:"" default:"proposed.tsv" help:"What kg propose wrote. (default: ${default})"`
}

// Run shows the open proposals one by one.
func (c *kgReview) Run(p *program) error {
	if _, err := os.Stat(c.File); err != nil {
		return exitError{exitUsage, fmt.Errorf("review: %w: `triplemesh kg propose FOLDER --out %s` writes it", err, c.File)}
	}
	return p.review(c.File)
}

// review goes through a sheet on the terminal and says what has become of it.
func (p *program) review(path string) error {
	d := newDesk(p)
	decided, err := propose.Review(path, d)
	if err != nil {
		return err
	}
	reviewed, err := accepted(path, io.Discard)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "\n%s: %d decided now; %s\n", path, decided, reviewed)
	if err == nil && reviewed.Accepted > 0 {
		_, err = fmt.Fprintf(p.stdout, "next: `triplemesh kg load NAME %s` loads what is accepted\n", path)
	}
	return err
}

// accepted writes what is accepted of a sheet as facts.
func accepted(path string, to io.Writer) (propose.Reviewed, error) {
	f, err := os.Open(path)
	if err != nil {
		return propose.Reviewed{}, err
	}
	defer f.Close()
	return propose.WriteAccepted(path, f, to)
}

// desk is the terminal, where one key is enough, or any other input, where keys
// stand on lines of their own or one after the other.
type desk struct {
	p     *program
	in    *bufio.Reader
	out   io.Writer // takes what is clean and coloured already
	file  *os.File  // the terminal that is typed on; nil where there is none
	width int
}

func newDesk(p *program) *desk {
	d := &desk{p: p, in: bufio.NewReader(p.stdin), out: terminal.Raw(p.stdout), width: p.style().Width}
	if f, ok := p.stdin.(*os.File); ok && terminal.Is(f) {
		d.file = f
	}
	return d
}

// Show prints a proposal with the sentence that it was read in.
func (d *desk) Show(row propose.Row, i, of int, notice string) {
	out := d.out
	fmt.Fprintf(out, "\n%d of %d  %s\n", i+1, of, terminal.Line(row.Place(), d.width-20))
	for _, line := range terminal.Wrap(terminal.Clean(row.Sentence), d.width-2) {
		fmt.Fprintln(out, " ", line)
	}
	fact := strings.Join([]string{row.Subject, row.Relation, row.Object}, " | ")
	if row.From != "" || row.To != "" {
		fact += fmt.Sprintf("  (%s to %s)", row.From, row.To)
	}
	fmt.Fprintln(out)
	for _, line := range terminal.Wrap(terminal.Clean(fact), d.width-4) {
		fmt.Fprintln(out, "   ", d.bold(line))
	}
	keys := "y accept  n reject  e edit  b back  space later  q end"
	for _, name := range [][2]string{{row.Subject, row.SubjectLike}, {row.Object, row.ObjectLike}} {
		if name[1] != "" {
			fmt.Fprintf(out, "    s: %s is %s?\n", terminal.Line(name[0], d.width/2-8), terminal.Line(name[1], d.width/2-8))
			keys = "y accept  s accept as suggested  n reject  e edit  b back  space later  q end"
		}
	}
	if notice != "" {
		fmt.Fprintln(out, " ", notice)
	}
	fmt.Fprintf(out, "  %s: ", keys)
}

func (d *desk) bold(text string) string {
	if !d.p.colour {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}

// Key reads one key.
func (d *desk) Key() (key rune, err error) {
	defer func() {
		if err == nil && key >= ' ' {
			fmt.Fprintln(d.out, terminal.Clean(string(key)))
		}
	}()
	if d.file == nil {
		return d.fromLine()
	}
	before, err := term.MakeRaw(int(d.file.Fd()))
	if err != nil {
		return d.fromLine()
	}
	defer func() { _ = term.Restore(int(d.file.Fd()), before) }()
	key, _, err = d.in.ReadRune()
	return key, err
}

// fromLine reads the next key that is no end of a line; an empty line is the
// space, which passes over.
func (d *desk) fromLine() (rune, error) {
	key, _, err := d.in.ReadRune()
	if err != nil {
		return 0, err
	}
	if key == '\n' {
		return ' ', nil
	}
	if next, _ := d.in.Peek(1); string(next) == "\n" {
		_, _ = d.in.Discard(1)
	}
	return key, nil
}

// Edit asks for another text.
func (d *desk) Edit(heading, text string) (string, error) {
	fmt.Fprintf(d.out, "  %s [%s]: ", heading, terminal.Line(text, d.width/2))
	line, err := d.in.ReadString('\n')
	return strings.TrimSpace(line), err
}
