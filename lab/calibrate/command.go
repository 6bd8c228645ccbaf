// Package calibrate finds by which thresholds a knowledge graph is grounded
// best with the encoder at hand, and writes them into the configuration.
package calibrate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/triplemesh/triplemesh/internal/paging"
	"github.com/triplemesh/triplemesh/internal/terminal"
	"github.com/triplemesh/triplemesh/lab/dataset"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"google.golang.org/grpc"
)

// Command is `triplemesh calibrate`.
type Command struct {
	dataset.Tuning
	Questions string  `required:"" type:"existingfile" placeholder:"FILE" help:"${calibrate_questions}"`
	Format    string  `placeholder:"NAME" help:"Format of the questions; told by their content otherwise."`
	KG        string  `name:"kg" required:"" placeholder:"KG" help:"Knowledge graph to calibrate for."`
	Limit     int     `default:"200" placeholder:"N" help:"${calibrate_limit}"`
	Seed      int64   `default:"1" help:"Seed of the sample."`
	Price     float64 `default:"0.002" help:"${calibrate_price}"`
	Out       string  `type:"path" default:"triplemesh.yaml" placeholder:"FILE" help:"${calibrate_out}"`
	Parallel  int     `default:"4" help:"Questions at a time."`
	JSON      bool    `name:"json" help:"Print all that was measured as JSON."`
}

// Mesh is what the command asks.
type Mesh struct {
	Asker    Asker
	Grounder Grounder
	Graphs   interface {
		ListKnowledgeGraphs(ctx context.Context, req *retrieverv1.ListKnowledgeGraphsRequest,
			opts ...grpc.CallOption) (*retrieverv1.ListKnowledgeGraphsResponse,
			error)
	}
}

// Result is what was measured and chosen.
type Result struct {
	// KG and Snapshot are what was read, Encoder what its vectors were made by.
	KG       string `json:"kg"`
	Snapshot uint64 `json:"snapshot"`
	Encoder  string `json:"encoder"`
	// Default is what the preset default comes to, Best what was found by the
	// tuning half, Chosen the one of them to use.
	Default Point `json:"default"`
	Best    Point `json:"best"`
	Chosen  Point `json:"chosen"`
	// Reason says why it was chosen.
	Reason string `json:"reason"`
	// Curve is everything that was tried, in order.
	Curve []Point `json:"curve"`
}

// minQuestions is how many questions each half must have: fewer decide nothing.
const minQuestions = 10

// Run calibrates. board shows how far it is.
func (c *Command) Run(ctx context.Context, mesh Mesh, board *terminal.Board, stdout io.Writer) error {
	if c.Parallel < 1 || c.Limit < 0 || c.Price < 0 {
		return fmt.Errorf("--parallel must be at least 1, --limit and --price at least 0")
	}
	data, err := c.Tuning.Read(c.Questions, c.Format)
	if err != nil {
		return err
	}
	result, err := c.snapshot(ctx, mesh)
	if err != nil {
		return err
	}
	kg := &graphv1.KnowledgeGraphRef{Name: c.KG, Snapshot: result.Snapshot}
	questions := dataset.Sample(data.Questions, c.Limit, c.Seed)
	written, drafting := int64(0), board.Start("draft", "pseudo-graphs", int64(len(questions)))
	drafts, err := draft(ctx, mesh.Asker, kg, questions, c.Parallel, func() {
		written++
		drafting.SetDone(written)
	})
	drafting.Stop()
	if err != nil {
		return err
	}
	if err := checkCounts(drafts); err != nil {
		return err
	}
	tried, searching := int64(0), board.Start("calibrate", "settings tried", 0)
	defer searching.Stop()
	g := &grounds{grounder: mesh.Grounder, kg: kg, questions: drafts, parallel: c.Parallel}
	s := &search{measure: g.measure, price: c.Price, told: func(p Point) {
		tried++
		searching.Note("%.1f %% by the last, %s", 100*p.Tuning.Rate(), p.Setting)
		searching.SetDone(tried)
	}}
	if result.Best, result.Curve, err = s.run(ctx); err != nil {
		return err
	}
	searching.Stop()
	result.Default = result.Curve[0]
	result.choose(c.Price)
	if c.Out != "-" {
		if err := write(c.Out, c.KG, result.Chosen.Setting, result.comment(c, len(drafts))); err != nil {
			return err
		}
	}
	if c.JSON {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(result)
	}
	return result.print(stdout, c)
}

// snapshot names the snapshot that is active, so that all of it reads one.
func (c *Command) snapshot(ctx context.Context, mesh Mesh) (*Result, error) {
	snapshots, err := paging.KnowledgeGraphs(ctx, mesh.Graphs, c.KG)
	if err != nil {
		return nil, err
	}
	for _, info := range snapshots {
		if info.GetActive() {
			return &Result{KG: c.KG, Snapshot: info.GetKg().GetSnapshot(), Encoder: info.GetEncoder()}, nil
		}
	}
	return nil,
		fmt.Errorf("calibrate %s: it has no active snapshot; load it with `triplemesh kg load`, or activate one", c.KG)
}

func checkCounts(drafts []drafted) error {
	var held int
	for _, d := range drafts {
		if d.held {
			held++
		}
	}
	if held < minQuestions || len(drafts)-held < minQuestions {
		return fmt.Errorf("calibrate: %d questions to choose by and %d to check the choice with are too few; give at "+
			"least some 40, or all parts of the file with --part all", len(drafts)-held, held)
	}
	return nil
}

// choose takes what was found, unless the questions that it was not found by
// speak for the default.
func (r *Result) choose(price float64) {
	r.Chosen, r.Reason = r.Best, "it is worth more on the questions it was chosen by, and no less on the others"
	switch {
	case r.Best.Setting.String() == r.Default.Setting.String():
		r.Reason = "nothing that was tried is worth more"
	case r.Best.Validation.worth(price) < r.Default.Validation.worth(price):
		r.Chosen = r.Default
		r.Reason = fmt.Sprintf("what was found (%s) is worth less on the questions it was not chosen by",
			r.Best.Setting)
	}
}

// comment stands over the setting in the file: where it comes from, and the
// curve that led to it.
func (r *Result) comment(c *Command, questions int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Calibrated on %d questions of %s by seed %d, snapshot %d, encoder %s, price %s:\n",
		questions, base(c.Questions), c.Seed, r.Snapshot, r.Encoder, number(c.Price))
	fmt.Fprintf(&b, "%s.\n", r.Reason)
	fmt.Fprintf(&b, "answer in the ground graph, chosen by / others, triples:\n")
	for _, p := range r.Curve {
		fmt.Fprintf(&b, "  %5.1f / %5.1f %%  %5.1f  %s\n", 100*p.Tuning.Rate(), 100*p.Validation.Rate(),
			(p.Tuning.Triples+p.Validation.Triples)/2, p.Setting)
	}
	return strings.TrimRight(b.String(), "\n")
}
