package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/propose"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/terminal"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

type kgPropose struct {
	serverFlags
	Paths    []string      `arg:"" help:"Folders and files of text, .txt or .md. Of folders, the folders in them too."`
	Out      string        `default:"proposed.tsv" placeholder:"FILE" help:"Where the proposals are written, for review. (default: ${default})"`
	Review   bool          `help:"Review them on the terminal afterwards, as kg review does."`
	Model    string        `placeholder:"NAME" help:"Model to ask, as the endpoint knows it."`
	Parallel int           `default:"2" placeholder:"N" help:"How many sentences are asked about at the same time. (default: ${default})"`
	Timeout  time.Duration `default:"5m" help:"Longest time for a sentence. (default: ${default})"`
}

// Help is printed below the flags.
func (kgPropose) Help() string {
	return `Nothing goes into a knowledge graph before you accept it. Write y (accept), s (accept with the names of subject_like and object_like) or n (reject) into the first column, in a spreadsheet, an editor, or by triplemesh kg review; then triplemesh kg load NAME FILE takes what is accepted.

The same command again asks about what is new or changed, and leaves your review as it is. FILE.asked remembers what was asked; remove FILE to begin anew.`
}

// Run reads the texts, has triples proposed, and says what to do next.
func (c *kgPropose) Run(p *program) error {
	board := p.board()
	texts, err := c.texts(func(format string, args ...any) { board.Say(format, args...) })
	if err != nil {
		return exitError{exitUsage, fmt.Errorf("propose: %w", err)}
	}
	s, err := p.connect(c.Server, c.Local, mesh.StageNames()...)
	if err != nil {
		return err
	}
	task := board.Start(c.Out, "sentences", 0)
	began := false
	run := propose.Run{
		Proposer: &propose.Mesh{Client: orchestratorv1.NewOrchestratorServiceClient(s), Model: c.Model, Timeout: c.Timeout},
		Sheet:    c.Out, Model: c.Model, Parallel: c.Parallel,
		Told: func(done, total int) {
			if !began {
				began = true
				task.Resume(int64(done))
			}
			task.SetOf(int64(done), int64(total))
		},
		Warn: func(place, what string) { board.Say("%s: %s", place, terminal.Clean(what)) },
	}
	out, err := run.Read(p.ctx, texts)
	task.Stop()
	if err = errors.Join(err, s.end()); err != nil {
		if out.Asked > 0 {
			board.Say("%d of %d sentences were read by now, and what they say is in %s; the same command goes on from there", out.Asked, out.Passages, c.Out)
		}
		return err
	}
	fmt.Fprintf(p.stdout, "%s: %d triples of %d sentences in %s, %d of them new; %s to review, %d with a name that may be another spelling\n",
		c.Out, out.Rows, out.Passages, count(len(texts), "file"), out.Proposed, count(out.Open, "triple"), out.Alike)
	if c.Review {
		return p.review(c.Out)
	}
	_, err = fmt.Fprintf(p.stdout, "next: write y, s or n into its first column, or `triplemesh kg review %s`; then `triplemesh kg load NAME %s`\n", c.Out, c.Out)
	return err
}

// texts reads the files. Of a folder, one that cannot be read is told of and
// left out.
func (c *kgPropose) texts(say func(format string, args ...any)) ([]propose.Text, error) {
	files, others, err := propose.Files(c.Paths)
	if err != nil {
		return nil, err
	}
	if others > 0 {
		say("%s left alone: only .txt and .md are read", count(others, "other file"))
	}
	var texts []propose.Text
	for _, file := range files {
		text, err := propose.ReadText(file)
		switch {
		case errors.Is(err, propose.ErrNotUTF8) && len(files) > 1:
			say("passed over: %v", err)
		case err != nil:
			return nil, err
		default:
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil, errors.New("there is no .txt or .md file to read")
	}
	return texts, nil
}

// count is a number of things in words.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
