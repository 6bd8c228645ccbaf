// Package claims measures how well texts are checked: on claims made from the
// facts of a knowledge graph, of which it is known what the knowledge graph says
// of them.
package claims

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/stats"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// Command is `triplemesh eval check`: flags, and a Run that does what they say.
type Command struct {
	Facts     string        `required:"" type:"existingfile" placeholder:"FILE" help:"${claims_facts}"`
	KG        string        `name:"kg" placeholder:"KG" help:"Knowledge graph to check by."`
	Prose     string        `type:"existingfile" placeholder:"FILE" help:"${claims_prose}"`
	Part      string        `enum:"tune,validate,report,all" default:"all" help:"Part of --prose or --lacking to use."`
	Questions string        `type:"path" placeholder:"FILE" help:"${claims_questions}"`
	Lacking   string        `placeholder:"FILE" help:"${claims_lacking}"`
	Force     bool          `help:"Overwrite an existing file of --questions."`
	Claims    int           `default:"60" placeholder:"N" help:"Claims of each verdict."`
	Seed      int64         `default:"1" help:"Seed by which claims are made."`
	Out       string        `type:"path" placeholder:"DIR" help:"${claims_out}"`
	JSON      bool          `name:"json" help:"Print figures as JSON."`
	Parallel  int           `default:"4" help:"Claims checked at a time."`
	Timeout   time.Duration `default:"10m" help:"Longest time for one claim."`
}

// Validate checks --lacking, which names a file or the wordings of this package.
func (c *Command) Validate() error {
	if c.Lacking == "" || c.Lacking == wordingsOfRelations {
		return nil
	}
	if _, err := os.Stat(c.Lacking); err != nil {
		return fmt.Errorf("--lacking: %w", err)
	}
	return nil
}

// Checker checks a text.
type Checker func(context.Context, *orchestratorv1.CheckRequest) (*orchestratorv1.CheckResponse, error)

// Result is the outcome of a claim.
type Result struct {
	Item
	// Said is the verdict; unspecified where no claim was read off the sentence.
	Said   verifierv1.Verdict    `json:"said"`
	Claim  *orchestratorv1.Claim `json:"claim,omitempty"`
	Others int                   `json:"others,omitempty"`
	// Read is how many claims were read off the sentence.
	Read int `json:"read,omitempty"`
	// Alarms are the other claims that are contradicted and say nothing of the seeded error.
	Alarms []*orchestratorv1.Claim `json:"alarms,omitempty"`
	Error  string                  `json:"error,omitempty"`
}

// Run makes the claims, checks each as a text of its own and prints the figures.
func (c *Command) Run(ctx context.Context, check Checker, kg *graphv1.KnowledgeGraphRef, stdout io.Writer,
	tell func(done, all int)) error {
	if c.Claims < 1 || c.Parallel < 1 {
		return errors.New("--claims and --parallel must be at least 1")
	}
	items, err := c.makeItems()
	if err != nil {
		return err
	}
	journal, err := c.journal()
	if err != nil {
		return err
	}
	defer journal.close()
	results := make([]Result, len(items))
	var mu sync.Mutex
	done := 0
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.Parallel)
	for i, item := range items {
		group.Go(func() error {
			known, ok := journal.known[item.ID]
			if !ok || known.Sentence != item.Sentence {
				known = c.checkItem(ctx, check, kg, item)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err := journal.add(known); err != nil {
					return err
				}
			}
			mu.Lock()
			defer mu.Unlock()
			results[i] = known
			done++
			tell(done, len(items))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	figures := Measure(results, stats.Resamples, c.Seed)
	if c.JSON {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(figures)
	}
	return figures.write(stdout)
}

func (c *Command) makeItems() ([]Item, error) {
	if c.Prose == "" {
		return Make(c.Facts, c.Claims, c.Seed)
	}
	part, err := dataset.ParsePart(c.Part)
	if err != nil {
		return nil, fmt.Errorf("--part: %w", err)
	}
	return MakeProse(c.Prose, c.Facts, part, c.Claims, c.Seed)
}

// checkItem checks a claim.
func (c *Command) checkItem(ctx context.Context, check Checker, kg *graphv1.KnowledgeGraphRef, item Item) Result {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	r := Result{Item: item}
	resp, err := check(ctx, &orchestratorv1.CheckRequest{Text: item.Sentence, Kg: kg})
	if err != nil {
		r.Error = err.Error()
		return r
	}
	claims := resp.GetCheck().GetClaims()
	if len(claims) == 0 {
		return r
	}
	seeded := kgtext.Fold(map[string]string{Swapped: item.Object, Strange: item.Subject}[item.Kind])
	for _, claim := range claims {
		if claim.GetVerdict() == verifierv1.Verdict_VERDICT_CONTRADICTED &&
			(seeded == "" || !wordsOf(claim).Mention(seeded)) {
			r.Alarms = append(r.Alarms, claim)
		}
	}
	r.Claim, r.Others, r.Read = claims[0], len(claims)-1, len(claims)
	i := slices.IndexFunc(claims, func(claim *orchestratorv1.Claim) bool { return mentionsItem(claim, item) })
	switch {
	case i >= 0:
		r.Claim = claims[i]
	case item.Topic != "": // other claims of a sentence of several are no verdict on this one
		r.Claim = nil
		return r
	}
	r.Said = r.Claim.GetVerdict()
	return r
}

// mentionsItem reports whether a claim is about both names of an item.
func mentionsItem(claim *orchestratorv1.Claim, item Item) bool {
	words := wordsOf(claim)
	return words.Mention(kgtext.Fold(item.Subject)) && words.Mention(kgtext.Fold(item.Object))
}

// wordsOf returns the words of a claim's names.
func wordsOf(claim *orchestratorv1.Claim) kgtext.Words {
	return kgtext.FoldWords(claim.GetTriple().GetSubject() + " " + claim.GetTriple().GetObject())
}

// journal keeps results as they come, each on a line.
type journal struct {
	mu    sync.Mutex
	file  *os.File
	known map[string]Result
}

// journal opens what an earlier command kept.
func (c *Command) journal() (*journal, error) {
	j := &journal{known: map[string]Result{}}
	if c.Out == "" {
		return j, nil
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(c.Out, fmt.Sprintf("claims-%d.jsonl", c.Seed)),
		os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	j.file = file
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r Result
		if json.Unmarshal(lines.Bytes(), &r) == nil && r.Error == "" { // a line cut off is asked again
			j.known[r.ID] = r
		}
	}
	return j, lines.Err()
}

func (j *journal) add(r Result) error {
	if j.file == nil {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, err = j.file.Write(append(line, '\n'))
	return err
}

func (j *journal) close() {
	if j.file != nil {
		j.file.Close()
	}
}

// write prints figures for a person.
func (f Figures) write(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%d claims, %d failed; right: %s\n\n", f.Claims, f.Failed, percent(f.Accuracy))
	fmt.Fprint(table, "verdict\tprecision\trecall\tF1\n")
	for _, v := range f.Verdicts {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", v.Verdict, percent(v.Precision), percent(v.Recall), percent(v.F1))
	}
	fmt.Fprint(table, "\nkind\tshould be\tclaims\tright\n")
	for _, k := range f.Kinds {
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\n", k.Kind, k.Gold, k.Right.N, percent(k.Right))
	}
	fmt.Fprintf(table, "\nfalse alarms: %d claims are contradicted that say nothing of a seeded error, of %d claims\n",
		f.Alarms, f.Read)
	return table.Flush()
}

func percent(i stats.Interval) string {
	return fmt.Sprintf("%.1f (%.1f to %.1f)", 100*i.Mean, 100*i.Low, 100*i.High)
}
