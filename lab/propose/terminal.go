package propose

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/triplemesh/triplemesh/internal/terminal"
)

// Terminal is a Desk that reads single keys from a terminal in raw mode, or from any other input, one after the
// other or one a line.
type Terminal struct {
	in       *bufio.Reader
	out      io.Writer // not cleaned again: gets clean, coloured text
	file     *os.File  // the input terminal; nil if there is none
	width    int
	coloured bool
}

// NewTerminal returns a Desk of an input and an output of width columns.
func NewTerminal(in io.Reader, out io.Writer, width int, coloured bool) *Terminal {
	d := &Terminal{in: bufio.NewReader(in), out: terminal.Raw(out), width: width, coloured: coloured}
	if f, ok := in.(*os.File); ok && terminal.IsTerminal(f) {
		d.file = f
	}
	return d
}

// Show prints a proposal and its sentence.
func (d *Terminal) Show(row Row, i, of int, notice string) {
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
			fmt.Fprintf(out, "    s: %s is %s?\n", terminal.Line(name[0], d.width/2-8),
				terminal.Line(name[1], d.width/2-8))
			keys = "y accept  s accept as suggested  n reject  e edit  b back  space later  q end"
		}
	}
	if notice != "" {
		fmt.Fprintln(out, " ", notice)
	}
	fmt.Fprintf(out, "  %s: ", keys)
}

func (d *Terminal) bold(text string) string {
	if !d.coloured {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}

// Key reads one key.
func (d *Terminal) Key() (key rune, err error) {
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

// fromLine reads the next key and skips line ends; an empty line counts as space.
func (d *Terminal) fromLine() (rune, error) {
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
func (d *Terminal) Edit(heading, text string) (string, error) {
	fmt.Fprintf(d.out, "  %s [%s]: ", heading, terminal.Line(text, d.width/2))
	line, err := d.in.ReadString('\n')
	return strings.TrimSpace(line), err
}
