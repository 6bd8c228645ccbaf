package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/progress"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/terminal"
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

// widest is how many columns of a wide terminal are used: longer lines are hard
// to read.
const widest = 100

// style fits standard output.
func (p *program) style() show.Style {
	t := terminal.Of(p.stdout, p.env)
	return show.Style{Colour: p.colour, ASCII: !t.Unicode, Width: min(t.Width(), widest)}
}

// terminal is standard error, which is where everything is drawn that is gone
// afterwards.
func (p *program) terminal() *terminal.Terminal {
	t := terminal.Of(p.stderr, p.env)
	t.Colour = t.Colour && !p.noColour
	return t
}

// board shows the progress of long work.
func (p *program) board() *progress.Board { return progress.New(p.terminal()) }

// statusLine is one line on standard error that is drawn again and again while
// something is waited for. Where standard error is no terminal, nothing is
// drawn.
type statusLine struct {
	t *terminal.Terminal
	*terminal.Region
}

func (p *program) status() *statusLine {
	t := p.terminal()
	return &statusLine{t, terminal.NewRegion(t)}
}

func (s *statusLine) set(format string, args ...any) {
	s.Draw(terminal.Line(fmt.Sprintf(format, args...), s.t.Width()-1))
}
