package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
)

// printIndented prints a value that is no message the same way.
func printIndented(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printJSON prints a message as scripts read it.
func printJSON(out io.Writer, m proto.Message) error {
	text, err := protojson.MarshalOptions{Multiline: true, Indent: "  "}.Marshal(m)
	if err != nil {
		return fmt.Errorf("print as JSON: %w", err)
	}
	_, err = fmt.Fprintln(out, string(text))
	return err
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// style fits standard output: its width up to 100 columns, since longer lines
// are hard to read.
func (p *program) style() show.Style {
	width := 80
	if f, ok := p.stdout.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			width = min(columns, 100)
		}
	}
	return show.Style{Colour: p.colour, Width: width}
}

// statusLine is one line on standard error that is drawn again and again while
// something is waited for. Where standard error is no terminal, nothing is
// drawn.
type statusLine struct {
	w     io.Writer
	on    bool
	drawn bool
}

func (p *program) status() *statusLine { return &statusLine{w: p.stderr, on: isTerminal(p.stderr)} }

func (s *statusLine) set(format string, args ...any) {
	if !s.on {
		return
	}
	line := []rune(strings.Map(printable, fmt.Sprintf(format, args...)))
	if len(line) > 79 {
		line = append(line[:78], '…')
	}
	fmt.Fprintf(s.w, "\r\x1b[K%s", string(line))
	s.drawn = true
}

func (s *statusLine) clear() {
	if s.drawn {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.drawn = false
	}
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
		return -1
	}
	return r
}
