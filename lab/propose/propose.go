// Package propose has a model read facts off texts, for a person to review
// before they go into a knowledge graph.
//
// The proposals lie in a sheet, one a line, which a spreadsheet opens and an
// editor too. Beside it lies a record of the passages that were asked about, so
// that none is asked about twice: an interrupted run resumes, files that are new
// or changed are read alone, and what was taken out of the sheet stays out.
package propose

import (
	"context"
	"errors"
	"fmt"
	"sync"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Proposer reads the facts off one passage. *Mesh is one.
type Proposer interface {
	Propose(ctx context.Context, p Passage) (*orchestratorv1.ProposeTriplesResponse, error)
}

// Run is one reading of some texts.
type Run struct {
	Proposer Proposer
	// Sheet is the file of the proposals. What it holds already stays.
	Sheet string
	// Model is the model that is asked, if it was named: another one is asked
	// about the same passage again.
	Model string
	// Parallel is how many passages are asked about at the same time.
	Parallel int
	// Told is called with how many passages are done of how many; by one
	// goroutine at a time.
	Told func(done, total int)
	// Warn is called with what failed and was skipped.
	Warn func(file, what string)
}

// Outcome counts what a Run came to.
type Outcome struct {
	// Passages were found, Asked of them now.
	Passages, Asked int
	// Proposed are rows that were added to the sheet, Rows all that it has.
	Proposed, Rows int
	// Open are rows that nobody decided on.
	Open int
	// Alike are open rows with a name that may be another spelling.
	Alike int
	// Tokens that were read and written.
	Tokens uint64
}

// Read asks about every passage of the texts that was not asked about before.
// An error leaves what was read until then in the sheet; the same call
// resumes there.
func (r *Run) Read(ctx context.Context, texts []Text) (Outcome, error) {
	var out Outcome
	sheet, err := OpenSheet(r.Sheet)
	if err != nil {
		return out, err
	}
	asked, err := openRecord(r.Sheet)
	if err != nil {
		return out, err
	}
	defer asked.close()
	var todo []Passage
	for _, t := range texts {
		for _, p := range t.Passages() {
			out.Passages++
			if key := p.key(r.Model); !asked.has(key) {
				asked.expect(key)
				todo = append(todo, p)
			}
		}
	}
	before := out.Passages - len(todo)
	err = r.askAll(ctx, todo, func(p Passage, resp *orchestratorv1.ProposeTriplesResponse) error {
		for _, w := range resp.GetWarnings() {
			r.Warn(p.place(), w.GetMessage())
		}
		added, err := sheet.Add(rows(p, resp.GetTriples()))
		if err == nil {
			err = asked.add(p.key(r.Model), p.File)
		}
		if err != nil {
			return err
		}
		out.Asked++
		out.Proposed += added
		out.Tokens += resp.GetUsage().GetPromptTokens() + resp.GetUsage().GetCompletionTokens()
		r.Told(before+out.Asked, out.Passages)
		return nil
	})
	// Names are compared once all are there, and of an interrupted run too: its
	// sheet can be reviewed as far as it goes.
	err = errors.Join(err, sheet.Suggest())
	all := sheet.Rows()
	out.Rows = len(all)
	for _, row := range all {
		if row.Mark == Open {
			out.Open++
			if row.SubjectLike != "" || row.ObjectLike != "" {
				out.Alike++
			}
		}
	}
	return out, err
}

// askAll asks about passages, some at a time, and takes the responses in the
// order of the passages. The first error ends it, but for those of one passage
// alone, which are warned of.
func (r *Run) askAll(ctx context.Context, todo []Passage,
	take func(Passage, *orchestratorv1.ProposeTriplesResponse) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var taking sync.Mutex
	var asking sync.WaitGroup
	responses := map[int]*orchestratorv1.ProposeTriplesResponse{}
	taken := 0
	takeUpTo := func(end int, all bool) {
		for ; taken < end; taken++ {
			resp, there := responses[taken]
			if !there && !all {
				return
			}
			delete(responses, taken)
			if resp == nil {
				continue
			}
			if err := take(todo[taken], resp); err != nil {
				cancel(err)
				return
			}
		}
	}
	for range max(1, r.Parallel) {
		asking.Go(func() {
			for i := range next {
				if ctx.Err() != nil {
					continue
				}
				resp, err := r.Proposer.Propose(ctx, todo[i])
				taking.Lock()
				switch {
				case err == nil: // also of one that came when others had failed
					responses[i] = resp
				case isInvalidPassage(err):
					responses[i] = nil
					r.Warn(todo[i].place(), err.Error())
				default:
					cancel(err)
				}
				takeUpTo(len(todo), false)
				taking.Unlock()
			}
		})
	}
	for i := range todo {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	asking.Wait()
	// What came behind one that failed was paid for.
	takeUpTo(len(todo), true)
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("propose triples: %w", err)
	}
	return nil
}

// rows returns a passage's proposals as the sheet has them.
func rows(p Passage, triples []*orchestratorv1.ProposedTriple) []Row {
	var all []Row
	for _, t := range triples {
		start, end := clip(t.GetSpan(), p.Length())
		all = append(all, Row{
			Subject: t.GetTriple().GetSubject(), Relation: t.GetTriple().GetRelation(),
			Object: t.GetTriple().GetObject(),
			From:   t.GetTriple().GetValidity().GetStart(), To: t.GetTriple().GetValidity().GetEnd(),
			Sentence: p.around(start, end), File: p.File, Line: p.line(start), Start: p.Start + start,
			End: p.Start + end,
		})
	}
	return all
}

// clip keeps a span within a passage: what comes from elsewhere may be wrong.
func clip(span *graphv1.TextSpan, length int) (start, end int) {
	end = min(int(span.GetEnd()), length)
	start = min(int(span.GetStart()), end)
	if end == 0 {
		return 0, length
	}
	return start, end
}
