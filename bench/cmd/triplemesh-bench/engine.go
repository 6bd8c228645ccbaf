package main

import (
	"fmt"

	"github.com/triplemesh/triplemesh/bench"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/cli"
	"github.com/triplemesh/triplemesh/internal/terminal"
)

type engineCommand struct {
	Only      []string `placeholder:"NAME" help:"${engine_only}"`
	Triples   string   `type:"existingfile" placeholder:"FILE" help:"${engine_triples}"`
	Questions string   `type:"existingfile" placeholder:"FILE" help:"${engine_questions}"`
	Plans     string   `type:"existingfile" placeholder:"FILE" help:"${engine_plans}"`
	Vectors   int      `default:"1000000" help:"Generated vectors to search."`
	Large     int      `default:"5000000" help:"Triples of the large snapshot; it takes 2 kB of disk each."`
	Lines     int      `default:"50000000" help:"Triples to put in order; they take 150 bytes of disk each."`
	Dims      int      `default:"384" help:"Length of generated vectors."`
	Rounds    int      `default:"5" help:"Turns of every contestant; the best counts."`
	Threads   int      `help:"Cores for each contestant; otherwise all."`
	Peers     bool     `default:"true" negatable:"" help:"${peers_help}"`
	Python    string   `default:"python3" help:"Python to run the peers with."`
	Neo4j     string   `name:"neo4j" placeholder:"URI" help:"${neo4j_help}"`
	Work      string   `type:"existingdir" placeholder:"DIR" help:"${work_help}"`
	Out       string   `type:"path" placeholder:"DIR" help:"Directory for results.json, results.md and plots."`
	JSON      bool     `name:"json" help:"Print the results as JSON."`
}

// Run measures the retrieval engine and its peers in one run.
func (c *engineCommand) Run(p *cli.Program) error {
	for flag, n := range map[string]int{"--vectors": c.Vectors, "--large": c.Large, "--lines": c.Lines,
		"--dims": c.Dims, "--rounds": c.Rounds} {
		if n < 1 {
			return cli.ExitError{Code: cli.ExitUsage, Err: fmt.Errorf("%s: must be at least 1, is %d", flag, n)}
		}
	}
	board := p.Board()
	defer board.Close()
	var task *terminal.Task
	turn := func(contest string, done, of int) {
		if done == 0 {
			task = board.Start(contest, "turns", int64(of))
		}
		if task.SetDone(int64(done)); done == of {
			task.Stop()
		}
	}
	rows, err := bench.Run(p.Ctx, bench.Options{
		Only: c.Only, Triples: c.Triples, Questions: c.Questions, Plans: c.Plans,
		Vectors: c.Vectors, Large: c.Large, Lines: c.Lines, Dims: c.Dims, Rounds: c.Rounds, Threads: c.Threads,
		Peers: c.Peers, Python: c.Python, Neo4j: c.Neo4j, Cache: p.Home.Cache, Work: c.Work,
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
		return bench.WriteJSON(p.Stdout, rows)
	}
	return bench.WriteTable(p.Stdout, rows)
}
