package cli

import (
	"fmt"

	"github.com/triplemesh/triplemesh/bench"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/progress"
)

// benchCommand is what can be measured: the retrieval engine, where no other
// word follows, and a mesh under load.
type benchCommand struct {
	Engine benchEngineCommand `cmd:"" default:"withargs" help:"Measure the retrieval engine beside its peers."`
	Load   benchLoadCommand   `cmd:"" help:"Ask a mesh many questions at a stated rate, and measure what becomes of them."`
}

type benchEngineCommand struct {
	Only      []string `placeholder:"NAME" help:"Measure only this: search, bits, large, encode, ground, walk or load. May be given again."`
	Triples   string   `type:"existingfile" placeholder:"FILE" help:"Triples to load, for all but search, large and load."`
	Questions string   `type:"existingfile" placeholder:"FILE" help:"Questions about them, JSON Lines, for bits and ground."`
	Plans     string   `type:"existingfile" placeholder:"FILE" help:"Relation paths in them, JSON Lines of question, topic and relations, for walk."`
	Vectors   int      `default:"1000000" help:"Generated vectors to search. (default: ${default})"`
	Large     int      `default:"5000000" help:"Triples of the large snapshot; it takes 2 kB of disk each. (default: ${default})"`
	Lines     int      `default:"50000000" help:"Triples to put in order; they take 150 bytes of disk each. (default: ${default})"`
	Dims      int      `default:"384" help:"Length of generated vectors. (default: ${default})"`
	Rounds    int      `default:"5" help:"Turns of every contestant; the best counts. (default: ${default})"`
	Threads   int      `help:"Cores for each contestant; otherwise all."`
	Peers     bool     `default:"true" negatable:"" help:"Measure FAISS, ONNX Runtime in Python and NetworkX as well; pip fetches them once."`
	Python    string   `default:"python3" help:"Python to run the peers with. (default: ${default})"`
	Neo4j     string   `name:"neo4j" placeholder:"URI" help:"Neo4j server to measure too, such as bolt://127.0.0.1:7687. WHAT IT HOLDS IS REMOVED. NEO4J_USER and NEO4J_PASSWORD are read from the environment."`
	Work      string   `type:"existingdir" placeholder:"DIR" help:"Where generated files go for the time of the run; otherwise the system's folder for temporary files."`
	Out       string   `type:"path" placeholder:"DIR" help:"Directory for results.json, results.md and plots."`
	JSON      bool     `name:"json" help:"Print the results as JSON."`
}

// Run measures the retrieval engine and its peers in one run.
func (c *benchEngineCommand) Run(p *program) error {
	for flag, n := range map[string]int{"--vectors": c.Vectors, "--large": c.Large, "--lines": c.Lines, "--dims": c.Dims, "--rounds": c.Rounds} {
		if n < 1 {
			return exitError{exitUsage, fmt.Errorf("%s: must be at least 1, is %d", flag, n)}
		}
	}
	board := p.board()
	defer board.Close()
	var task *progress.Task
	turn := func(contest string, done, of int) {
		if done == 0 {
			task = board.Start(contest, "turns", int64(of))
		}
		if task.Set(int64(done)); done == of {
			task.Stop()
		}
	}
	rows, err := bench.Run(p.ctx, bench.Options{
		Only: c.Only, Triples: c.Triples, Questions: c.Questions, Plans: c.Plans,
		Vectors: c.Vectors, Large: c.Large, Lines: c.Lines, Dims: c.Dims, Rounds: c.Rounds, Threads: c.Threads,
		Peers: c.Peers, Python: c.Python, Neo4j: c.Neo4j, Cache: p.home.Cache, Work: c.Work,
		Turn: turn,
	}, board)
	board.Close()
	if err != nil {
		return err
	}
	if c.Out != "" {
		if err := bench.Write(c.Out, rows); err != nil {
			return err
		}
	}
	if c.JSON {
		return bench.WriteJSON(p.stdout, rows)
	}
	return bench.WriteTable(p.stdout, rows)
}
