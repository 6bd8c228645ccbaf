package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
)

// graph is a set of triples over entity names.
type graph struct {
	names     []string
	known     map[string]int // index in names
	relations []string
	triples   [][3]int // subject in names, relation in relations, object in names
}

func readGraph(files []string) (*graph, error) {
	g := &graph{known: map[string]int{}}
	relations := map[string]int{}
	for _, file := range files {
		if err := g.readFile(file, relations); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
	}
	if len(g.triples) == 0 {
		return nil, errors.New("no triple was read; name files of tab-separated triples")
	}
	return g, nil
}

func (g *graph) readFile(file string, relations map[string]int) error {
	return dataset.ReadColumns(file, func(line int, columns []string) error {
		if len(columns) != 3 {
			return fmt.Errorf("line %d: %d fields, want subject, relation and object", line, len(columns))
		}
		relation, ok := relations[columns[1]]
		if !ok {
			relation = len(g.relations)
			relations[columns[1]] = relation
			g.relations = append(g.relations, columns[1])
		}
		g.triples = append(g.triples, [3]int{g.addName(columns[0]), relation, g.addName(columns[2])})
		return nil
	})
}

func (g *graph) addName(name string) int {
	i, ok := g.known[name]
	if !ok {
		i = len(g.names)
		g.known[name] = i
		g.names = append(g.names, name)
	}
	return i
}

// write writes the triples, then copies of them until there are size.
func (g *graph) write(w io.Writer, size, hubs int) error {
	shared := g.findHubs(hubs)
	for written, copied := 0, 0; written < size; copied++ {
		for _, t := range g.triples[:min(len(g.triples), size-written)] {
			if _, err := fmt.Fprintf(w, "%s\t%s\t%s\n",
				g.recombine(t[0], copied, shared), g.relations[t[1]], g.recombine(t[2], copied, shared)); err != nil {
				return err
			}
			written++
		}
	}
	return nil
}

// findHubs returns the objects with most edges.
func (g *graph) findHubs(count int) map[int]bool {
	edges := make([]int, len(g.names))
	for _, t := range g.triples {
		edges[t[2]]++
	}
	order := make([]int, len(g.names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(edges[b], edges[a]) })
	hubs := map[int]bool{}
	for _, i := range order[:min(count, len(order))] {
		hubs[i] = true
	}
	return hubs
}

// recombine returns the name of an entity in a copy; copy 0 is the original. Its last word comes
// from another name, so that words are as frequent as in the graph and no original name gets new
// facts. Numbers, dates and shared entities keep their names.
func (g *graph) recombine(i, copied int, shared map[int]bool) string {
	name := g.names[i]
	switch {
	case copied == 0, shared[i], !strings.ContainsFunc(name, unicode.IsLetter):
		return name
	case kgtext.IsMachineID(name):
		return name[:3] + strconv.FormatInt(int64(copied)*int64(len(g.names))+int64(i), 36)
	}
	const step = 7919 // a prime: copies of neighbours take their words from distant names
	other := g.names[(i+copied*step)%len(g.names)]
	words, last := strings.Fields(name), strings.Fields(other)
	if len(words) == 0 || len(last) == 0 {
		return name + " " + strconv.Itoa(copied)
	}
	if len(words) > 1 {
		words = words[:len(words)-1]
	}
	made := strings.Join(append(words, last[len(last)-1]), " ")
	if _, taken := g.known[made]; taken {
		made += " " + strconv.Itoa(copied)
	}
	return made
}
