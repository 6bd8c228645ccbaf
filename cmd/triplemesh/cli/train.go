package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/paging"
	"github.com/triplemesh/triplemesh/lab/train"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
)

type trainCommand struct {
	Ranker   trainRanker   `cmd:"" default:"withargs" help:"${cmd_train_ranker}"`
	List     trainList     `cmd:"" help:"List the rankers of a knowledge graph."`
	Activate trainActivate `cmd:"" help:"Activate a ranker, from the list or from a file."`
	Rollback trainRollback `cmd:"" help:"${train_rollback}"`
	Drop     trainDrop     `cmd:"" help:"Remove a ranker that is not active."`
}

type trainRanker struct {
	train.Command
	storeFlags
	Server   string `placeholder:"ADDR" env:"TRIPLEMESH_SERVER" help:"${train_server}"`
	Out      string `type:"path" placeholder:"FILE" help:"File to write the ranker to."`
	Force    bool   `help:"Overwrite an existing file."`
	Activate bool   `help:"${train_activate}"`
	JSON     bool   `name:"json" help:"Print the result as JSON."`
}

// Run trains a ranker.
func (c *trainRanker) Run(p *Program) error {
	var refused *train.RefusedError
	if err := c.Prepare(namedKG); errors.As(err, &refused) {
		return err
	} else if err != nil {
		return ExitError{ExitUsage, err}
	}
	addr, targets := c.Retriever, []string{"retriever"}
	if c.FromFeedback { // the orchestrator has it, and forwards the retriever's services
		addr, targets = c.Server, []string{"orchestrator", "retriever"}
	}
	if c.FindsWords() {
		targets = append(targets, "generator")
	}
	s, err := p.Connect(addr, c.Local, targets...)
	if err != nil {
		return err
	}
	return errors.Join(c.train(p, s), s.Close())
}

// connectWords reaches the generator of the mesh, which asks the model for words of relations; nil, with a note, if
// none can be reached.
func (c *trainRanker) connectWords(p *Program, s *Session) (words train.WordFinder, closeConn func() error, err error) {
	none := func() error { return nil }
	if !c.FindsWords() {
		return nil, none, nil
	}
	addr := ""
	if s.Mesh != nil {
		addr = s.Mesh.Addr("generator")
	}
	generator, err := p.Connect(addr, false, "generator")
	if code := new(ExitError); errors.As(err, code) && code.Code == exitUnreachable {
		fmt.Fprintf(p.Stderr, "triplemesh: %v; questions have the names of relations alone\n", err)
		return nil, none, nil
	} else if err != nil {
		return nil, none, err
	}
	return generatorv1.NewGeneratorServiceClient(generator), generator.Close, nil
}

func (c *trainRanker) train(p *Program, s *Session) (err error) {
	line := p.StatusLine()
	defer line.Clear()
	retriever := retrieverv1.NewRetrieverServiceClient(s)
	marks := orchestratorv1.NewFeedbackServiceClient(s)
	words, closeWords, err := c.connectWords(p, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeWords()) }()
	if err := c.Read(p.Ctx, retriever, words, marks, func(what string) { line.Set("%s", what) }); err != nil {
		return err
	}
	trainer := c.Trainer(retriever)
	if !c.Scratch && len(c.Graphs()) == 1 {
		var err error
		trainer.Start, err = readRanker(p.Ctx, retrieverv1.NewKnowledgeGraphServiceClient(s), c.Graphs()[0].GetName())
		if err != nil {
			return err
		}
	}
	trainer.Progress = func(what string, done, of int) { line.Set("train: %s %d of %d", what, done, of) }
	result, err := trainer.Train(p.Ctx)
	if err != nil {
		return err
	}
	line.Clear()
	if c.Out != "" {
		if _, err := writeWhole(c.Out, c.Force, result.Weights.Write); err != nil {
			return err
		}
	}
	if c.JSON {
		err = printIndented(p.Stdout, result)
	} else {
		err = result.Print(p.Stdout)
	}
	if err != nil || !c.Activate {
		return err
	}
	for _, kg := range c.Graphs() {
		client := retrieverv1.NewKnowledgeGraphServiceClient(s)
		err = errors.Join(err, p.activateBetter(client, kg.GetName(), result))
	}
	return err
}

// readRanker reads the weights of the ranker that ranks a knowledge graph now; nil if there is none.
func readRanker(ctx context.Context, client retrieverv1.KnowledgeGraphServiceClient, kg string) (*rank.Weights, error) {
	var file bytes.Buffer
	stream, err := client.ExportRanker(ctx,
		&retrieverv1.ExportRankerRequest{Kg: &graphv1.KnowledgeGraphRef{Name: kg}})
	if err == nil {
		err = receive(stream, func(part *retrieverv1.ExportRankerResponse) error {
			file.Write(part.GetChunk())
			return nil
		})
	}
	switch {
	case status.Code(err) == codes.NotFound, status.Code(err) == codes.Unimplemented:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the present ranker of %s: %w", kg, err)
	}
	return rank.Read(&file)
}

// activateBetter stores a ranker and activates it, unless it ranks worse than what ranks now.
func (p *Program) activateBetter(client retrieverv1.KnowledgeGraphServiceClient, kg string,
	result *train.Result) error {
	if err := result.CheckBetter(kg); err != nil {
		return err
	}
	var file bytes.Buffer
	if err := result.Weights.Write(&file); err != nil {
		return err
	}
	info, err := createRanker(p.Ctx, client, kg, &file, true)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stderr, "active: ranker %d of %s\n", info.GetNumber(), kg)
	return err
}

// createRanker stores a ranker's file.
func createRanker(ctx context.Context, client retrieverv1.KnowledgeGraphServiceClient, kg string, file io.Reader,
	activate bool) (*retrieverv1.RankerInfo, error) {
	stream, err := client.CreateRanker(ctx)
	if err != nil {
		return nil, err
	}
	header := &retrieverv1.RankerHeader{Kg: &graphv1.KnowledgeGraphRef{Name: kg}, Activate: activate}
	err = stream.Send(&retrieverv1.CreateRankerRequest{Part: &retrieverv1.CreateRankerRequest_Header{Header: header}})
	if err == nil {
		err = sendChunks("read the ranker", file, func(chunk []byte) error {
			return stream.Send(&retrieverv1.CreateRankerRequest{
				Part: &retrieverv1.CreateRankerRequest_Chunk{Chunk: chunk}})
		})
	}
	// A server that ended the stream says why below.
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	resp, err := stream.CloseAndRecv()
	return resp.GetRanker(), err
}

type trainList struct {
	storeFlags
	KG   string `name:"kg" required:"" placeholder:"NAME" help:"Knowledge graph."`
	JSON bool   `name:"json" help:"Print them as JSON."`
}

// Run lists rankers.
func (c *trainList) Run(p *Program) error {
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		rankers, err := paging.All(func(token string) ([]*retrieverv1.RankerInfo, string, error) {
			resp, err := client.ListRankers(p.Ctx, &retrieverv1.ListRankersRequest{KgName: c.KG, PageToken: token})
			return resp.GetRankers(), resp.GetNextPageToken(), err
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(p.Stdout, &retrieverv1.ListRankersResponse{Rankers: rankers})
		}
		if len(rankers) == 0 {
			_, err := fmt.Fprintf(p.Stdout, "no ranker yet; train one with `triplemesh train ranker --kg %s "+
				"--questions FILE --activate`\n", c.KG)
			return err
		}
		return printRankers(p.Stdout, rankers)
	})
}

func printRankers(out io.Writer, rankers []*retrieverv1.RankerInfo) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ranker\t\tstored\ttrained on\theld back\tfirst path right\tbefore\tquestions")
	for _, r := range rankers {
		active := ""
		if r.GetActive() {
			active = "active"
		}
		stored := r.GetCreateTime().AsTime().Local().Format(time.DateTime)
		if r.GetDefect() != "" {
			fmt.Fprintf(w, "%d\t%s\t%s\tunusable: %s\n", r.GetNumber(), active, stored, show.Line(r.GetDefect(), 80))
			continue
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%d\t%.1f %%\t%.1f %%\t%s\n", r.GetNumber(), active, stored, r.GetTrained(),
			r.GetHeld(), 100*r.GetFirst(), 100*r.GetFirstBefore(),
			show.Line(strings.Join(r.GetQuestionSets(), ", "), 60))
	}
	return w.Flush()
}

type trainActivate struct {
	storeFlags
	KG     string `name:"kg" required:"" placeholder:"NAME" help:"Knowledge graph."`
	Number uint64 `arg:"" optional:"" help:"Number of the ranker, as triplemesh train list shows it."`
	File   string `type:"existingfile" placeholder:"FILE" help:"Store and activate the ranker in this file."`
}

// Run activates a ranker.
func (c *trainActivate) Run(p *Program) error {
	if (c.Number == 0) == (c.File == "") {
		return ExitError{ExitUsage, errors.New("name the ranker to activate by its number, or by --file; " +
			"`triplemesh train list` shows numbers")}
	}
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		var info *retrieverv1.RankerInfo
		if c.File != "" {
			file, err := os.Open(c.File)
			if err != nil {
				return err
			}
			info, err = createRanker(p.Ctx, client, c.KG, file, true)
			if err = errors.Join(err, file.Close()); err != nil {
				return err
			}
		} else {
			resp, err := client.ActivateRanker(p.Ctx, &retrieverv1.ActivateRankerRequest{
				Kg: &graphv1.KnowledgeGraphRef{Name: c.KG}, Number: c.Number})
			if err != nil {
				return err
			}
			info = resp.GetRanker()
		}
		_, err := fmt.Fprintf(p.Stdout, "active: ranker %d of %s\n", info.GetNumber(), c.KG)
		return err
	})
}

type trainRollback struct {
	storeFlags
	KG string `name:"kg" required:"" placeholder:"NAME" help:"Knowledge graph."`
}

// Run activates the ranker before the active one.
func (c *trainRollback) Run(p *Program) error {
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		resp, err := client.RollbackRanker(p.Ctx,
			&retrieverv1.RollbackRankerRequest{Kg: &graphv1.KnowledgeGraphRef{Name: c.KG}})
		switch {
		case err != nil:
		case resp.GetRanker() == nil:
			_, err = fmt.Fprintf(p.Stdout, "no ranker of %s is active\n", c.KG)
		default:
			_, err = fmt.Fprintf(p.Stdout, "active: ranker %d of %s\n", resp.GetRanker().GetNumber(), c.KG)
		}
		return err
	})
}

type trainDrop struct {
	storeFlags
	KG     string `name:"kg" required:"" placeholder:"NAME" help:"Knowledge graph."`
	Number uint64 `arg:"" help:"Number of the ranker, as triplemesh train list shows it."`
}

// Run removes a ranker.
func (c *trainDrop) Run(p *Program) error {
	return p.graphs(c.storeFlags, func(client retrieverv1.KnowledgeGraphServiceClient) error {
		if _, err := client.DeleteRanker(p.Ctx, &retrieverv1.DeleteRankerRequest{
			Kg: &graphv1.KnowledgeGraphRef{Name: c.KG}, Number: c.Number}); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.Stdout, "dropped ranker %d of %s\n", c.Number, c.KG)
		return err
	})
}
