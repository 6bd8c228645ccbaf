package claims

import (
	"fmt"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
)

// fact is one triple of a knowledge graph.
type fact struct{ subject, relation, object string }

// facts are a knowledge graph as claims are made from it.
type facts struct {
	all []fact
	// objects are those of a subject and relation, in the order of the file.
	objects map[[2]string][]string
	// relations are those of a subject.
	relations map[string][]string
	// byRelation are the facts of each relation.
	byRelation map[string][]fact
	// names are all subjects and objects, folded.
	names map[string]bool
	// joined are the pairs of names that any fact joins.
	joined map[[2]string]bool
}

// readFacts reads triples as `triplemesh kg load` does from a TSV file, which
// may be packed by gzip: subject, relation and object on a line.
func readFacts(path string) (*facts, error) {
	f := &facts{
		objects: map[[2]string][]string{}, relations: map[string][]string{}, byRelation: map[string][]fact{},
		names: map[string]bool{}, joined: map[[2]string]bool{},
	}
	err := dataset.ReadColumns(path, func(line int, columns []string) error {
		if len(columns) < 3 {
			return fmt.Errorf("line %d has %d columns: want subject, relation and object", line, len(columns))
		}
		f.add(fact{columns[0], columns[1], columns[2]})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read facts of %s: %w", path, err)
	}
	return f, nil
}

func (f *facts) add(t fact) {
	k := [2]string{t.subject, t.relation}
	if len(f.objects[k]) == 0 {
		f.relations[t.subject] = append(f.relations[t.subject], t.relation)
	}
	f.all = append(f.all, t)
	f.objects[k] = append(f.objects[k], t.object)
	f.byRelation[t.relation] = append(f.byRelation[t.relation], t)
	s, o := kgtext.Fold(t.subject), kgtext.Fold(t.object)
	f.names[s], f.names[o] = true, true
	f.joined[[2]string{s, o}] = true
}

// several returns the share of a relation's subjects that have several objects in it.
func (f *facts) several(relation string) float64 {
	seen, many := map[string]bool{}, 0
	for _, t := range f.byRelation[relation] {
		if !seen[t.subject] {
			seen[t.subject] = true
			if len(f.objects[[2]string{t.subject, relation}]) > 1 {
				many++
			}
		}
	}
	if len(seen) == 0 {
		return 0
	}
	return float64(many) / float64(len(seen))
}

// hasName reports whether a subject or an object has a name.
func (f *facts) hasName(name string) bool { return f.names[kgtext.Fold(name)] }

// joins reports whether any fact joins two names, either way about.
func (f *facts) joins(a, b string) bool {
	x, y := kgtext.Fold(a), kgtext.Fold(b)
	return f.joined[[2]string{x, y}] || f.joined[[2]string{y, x}]
}
