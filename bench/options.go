package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/auth"
)

// Options say what to measure, and on what.
type Options struct {
	// Only names the measures to run; empty runs all that have their data.
	Only []string
	// Triples is a file of triples to load, and Plans the relation paths to
	// follow in it, one JSON {"question", "topic", "relations"} a line.
	// Questions are asked of it: JSON Lines with question and topic_entities.
	Triples, Plans, Questions string
	// Vectors is how many generated vectors are searched, Large how many lie in
	// the large snapshot, Lines how many triples are built.
	Vectors, Large, Lines int
	// Dims is the length of generated vectors.
	Dims int
	// Rounds is how often every contestant has its turn.
	Rounds int
	// Threads is how many cores each contestant may use; 0 takes all.
	Threads int
	// Peers reports whether to measure peers as well; Python runs them, and Neo4j
	// is the address of a server to load the triples into: its data are removed.
	Peers  bool
	Python string
	Neo4j  string
	// Cache holds the encoder's files, the peers' packages and what is loaded.
	Cache string
	// Work is where generated files go; empty takes the system's folder for
	// temporary files.
	Work string
	// Turn is notified of each contest how many turns of how many are over, 0
	// first; nil tells nobody.
	Turn func(contest string, done, of int)
}

// measure is a thing that can be asked for by name.
type measure struct {
	name string
	// about is a line of help.
	about string
	run   func(*bench, context.Context) error
}

// measures are all there is to measure, in this order.
var measures = []measure{
	{"search", "nearest vectors among generated ones, beside FAISS Flat and SQ8", (*bench).search},
	{"bits", "nearest vectors among those of the triples, beside FAISS HNSW", (*bench).bits},
	{"large", "a large snapshot: opening it, and what searching it keeps in memory", (*bench).large},
	{"encode", "texts into vectors, beside ONNX Runtime in Python", (*bench).encode},
	{"ground", "GroundGraph over the triples, encoding included", (*bench).ground},
	{"walk", "FollowPaths over the plans, beside NetworkX and Neo4j", (*bench).walk},
	{"load", "lines of triples into sorted order, with bounded memory", (*bench).load},
}

// Names lists the measures with a line about each.
func Names() []string {
	var lines []string
	for _, m := range measures {
		lines = append(lines, m.name+": "+m.about)
	}
	return lines
}

// errSkip says that a measure lacks its data.
var errSkip = errors.New("left out")

// Run measures and returns a row for each contestant of each contest. What it
// does is told to stderr, a line at a time.
func Run(ctx context.Context, o Options, stderr io.Writer) (rows []Row, err error) {
	// Caches keep what a tenant asked for.
	ctx = auth.WithTenant(ctx, auth.DefaultTenant())
	if o.Threads == 0 {
		o.Threads = runtime.NumCPU()
	}
	for _, name := range o.Only {
		if !slices.ContainsFunc(measures, func(m measure) bool { return m.name == name }) {
			return nil, fmt.Errorf("no measure is named %q; there are:\n  %s", name, strings.Join(Names(), "\n  "))
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.Threads))
	b := &bench{Options: o, stderr: stderr}
	if b.work, err = os.MkdirTemp(o.Work, "triplemesh-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		for _, e := range b.opened {
			err = errors.Join(err, e.close())
		}
		err = errors.Join(err, os.RemoveAll(b.work))
	}()
	if o.Peers {
		if b.peers, err = newPeers(ctx, o.Cache+"/peers", o.Python, b.progress); err != nil {
			return nil, err
		}
	}
	for _, m := range measures {
		if len(o.Only) > 0 && !slices.Contains(o.Only, m.name) {
			continue
		}
		switch err := m.run(b, ctx); {
		case errors.Is(err, errSkip):
			b.progress("%s: %v", m.name, err)
		case err != nil:
			return b.rows, err
		}
	}
	return b.rows, nil
}
