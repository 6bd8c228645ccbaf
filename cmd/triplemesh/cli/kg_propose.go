package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/terminal"
	"github.com/triplemesh/triplemesh/lab/propose"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

type kgPropose struct {
	ServerFlags
	Paths    []string      `arg:"" help:"Text files (.txt or .md) and folders, read recursively."`
	Out      string        `default:"proposed.tsv" placeholder:"FILE" help:"${kg_propose_out}"`
	Review   bool          `help:"Review them in the terminal afterwards, like kg review."`
	Model    string        `placeholder:"NAME" help:"Model to ask, as the endpoint knows it."`
	Parallel int           `default:"2" placeholder:"N" help:"Number of sentences processed concurrently."`
	Timeout  time.Duration `default:"5m" help:"Longest time for a sentence."`
}

func (kgPropose) Help() string {
	return "Nothing is loaded before you accept it. Write y (accept), s (accept with the names of subject_like and " +
		"object_like) or n (reject) into the first column, in a spreadsheet, an editor, or by triplemesh kg review; " +
		"then triplemesh kg load NAME FILE loads what is accepted.\n\nRunning the command again processes new and " +
		"changed text only and keeps your review. FILE.asked records the processed text; remove FILE to start over."
}

// Run extracts proposals from the texts and prints the next step.
func (c *kgPropose) Run(p *Program) error {
	board := p.Board()
	texts, err := c.texts(func(format string, args ...any) { board.Println(format, args...) })
	if err != nil {
		return usageError("propose: %w", err)
	}
	s, err := p.Connect(c.Server, c.Local, mesh.StageNames()...)
	if err != nil {
		return err
	}
	task := board.Start(c.Out, "sentences", 0)
	began := false
	run := propose.Run{
		Proposer: &propose.Mesh{Client: orchestratorv1.NewOrchestratorServiceClient(s), Model: c.Model,
			Timeout: c.Timeout},
		Sheet: c.Out, Model: c.Model, Parallel: c.Parallel,
		Told: func(done, total int) {
			if !began {
				began = true
				task.Resume(int64(done))
			}
			task.SetProgress(int64(done), int64(total))
		},
		Warn: func(place, what string) { board.Println("%s: %s", place, terminal.Clean(what)) },
	}
	out, err := run.Read(p.Ctx, texts)
	task.Stop()
	if err = errors.Join(err, s.Close()); err != nil {
		if out.Asked > 0 {
			board.Println("%d of %d sentences are done, with their proposals in %s; run the same command to "+
				"resume", out.Asked, out.Passages, c.Out)
		}
		return err
	}
	fmt.Fprintf(p.Stdout, "%s: %d triples of %d sentences in %s, %d of them new; %s to review, %d with a name that "+
		"may be another spelling\n",
		c.Out, out.Rows, out.Passages, kgtext.FormatCount(len(texts), "file"), out.Proposed,
		kgtext.FormatCount(out.Open, "triple"), out.Alike)
	if c.Review {
		return p.review(c.Out)
	}
	_, err = fmt.Fprintf(p.Stdout, "next: write y, s or n into its first column, or `triplemesh kg review %s`; then "+
		"`triplemesh kg load NAME %s`\n", c.Out, c.Out)
	return err
}

// texts reads the files. Files of a folder that are not UTF-8 are reported and skipped.
func (c *kgPropose) texts(say func(format string, args ...any)) ([]propose.Text, error) {
	files, others, err := propose.Files(c.Paths)
	if err != nil {
		return nil, err
	}
	if others > 0 {
		say("%s skipped: only .txt and .md are read", kgtext.FormatCount(others, "other file"))
	}
	var texts []propose.Text
	for _, file := range files {
		text, err := propose.ReadText(file)
		switch {
		case errors.Is(err, propose.ErrNotUTF8) && len(files) > 1:
			say("skipped: %v", err)
		case err != nil:
			return nil, err
		default:
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil, errors.New("no .txt or .md files found")
	}
	return texts, nil
}

type kgReview struct {
	File string `arg:"" default:"proposed.tsv" help:"What kg propose wrote."`
}

func (c *kgReview) Run(p *Program) error {
	if _, err := os.Stat(c.File); err != nil {
		return usageError("review: %w: `triplemesh kg propose FOLDER --out %s` writes it", err, c.File)
	}
	return p.review(c.File)
}

// review reviews a sheet in the terminal and prints a summary.
func (p *Program) review(path string) error {
	style := p.style()
	decided, err := propose.Review(path, propose.NewTerminal(p.stdin, p.Stdout, style.Width, style.Colour))
	if err != nil {
		return err
	}
	reviewed, err := accepted(path, io.Discard)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "\n%s: %d decided now; %s\n", path, decided, reviewed)
	if err == nil && reviewed.Accepted > 0 {
		_, err = fmt.Fprintf(p.Stdout, "next: `triplemesh kg load NAME %s` loads what is accepted\n", path)
	}
	return err
}

// accepted writes the accepted triples of a sheet.
func accepted(path string, to io.Writer) (propose.Reviewed, error) {
	f, err := os.Open(path)
	if err != nil {
		return propose.Reviewed{}, err
	}
	defer f.Close()
	return propose.WriteAccepted(path, f, to)
}
