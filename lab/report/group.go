package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
)

// Group are the evaluations over the same questions and knowledge graph with the same topic entities.
type Group struct {
	// Dataset is the questions.
	Dataset results.Dataset
	// Part is the part of them that was asked; empty or all if it is the whole set.
	Part string
	// KG is the knowledge graph's name; empty if none was read.
	KG string
	// Entities are where topic entities come from: gold, linked or none.
	Entities string
	// Evaluations are in the order in which methods are usually compared.
	Evaluations []*Evaluation
	// Warnings say why they may not compare.
	Warnings []string
}

// Title names the group: "webqsp (report) on freebase, gold entities".
func (g *Group) Title() string {
	title := g.Dataset.Name
	if g.Part != "" && g.Part != string(dataset.All) {
		title += " (" + g.Part + ")"
	}
	if g.KG != "" {
		title += " on " + g.KG
	}
	if g.Entities == results.Gold {
		title += ", gold entities"
	}
	return title
}

// GroupEvaluations puts evaluations together. An evaluation that names no knowledge graph stands beside
// those of every one over its questions, and one that uses no topic entities beside those with gold and
// those with linked ones: these two never stand in one group, and nor do two parts of a dataset.
func GroupEvaluations(evaluations []*Evaluation) []*Group {
	type questions struct{ name, sum, part string }
	type place struct{ kg, entities string }
	places := make(map[questions][]place)
	asked := func(m results.Manifest) questions { return questions{m.Dataset.Name, m.Dataset.SHA256, m.Part} }
	for _, e := range evaluations {
		m := e.Manifest()
		if p := (place{m.KG, m.Entities()}); p.entities != results.NoEntities && !slices.Contains(places[asked(m)], p) {
			places[asked(m)] = append(places[asked(m)], p)
		}
	}
	for _, e := range evaluations { // those that nothing with topic entities stands beside
		m := e.Manifest()
		if q := asked(m); m.KG != "" && !slices.ContainsFunc(places[q], func(p place) bool { return p.kg == m.KG }) {
			places[q] = append(places[q], place{m.KG, results.NoEntities})
		}
	}
	groups := make(map[questions]map[place]*Group)
	for _, e := range evaluations {
		m := e.Manifest()
		q := asked(m)
		if groups[q] == nil {
			groups[q] = make(map[place]*Group)
		}
		beside := places[q]
		if len(beside) == 0 {
			beside = []place{{"", results.NoEntities}}
		}
		for _, p := range beside {
			if m.KG != "" && m.KG != p.kg || m.Entities() != results.NoEntities && m.Entities() != p.entities {
				continue
			}
			if groups[q][p] == nil {
				groups[q][p] = &Group{Dataset: m.Dataset, Part: m.Part, KG: p.kg, Entities: p.entities}
			}
			copied := *e // its name may differ from group to group
			groups[q][p].Evaluations = append(groups[q][p].Evaluations, &copied)
		}
	}
	var out []*Group
	for _, places := range groups {
		for _, g := range places {
			g.settle()
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(a.Dataset.Name, b.Dataset.Name), cmp.Compare(a.KG, b.KG),
			cmp.Compare(a.Dataset.SHA256, b.Dataset.SHA256), cmp.Compare(a.Part, b.Part),
			cmp.Compare(a.Entities, b.Entities))
	})
	return out
}

// methods is the order of methods in tables: those without a knowledge graph
// first, the mesh's own last.
var methods = []string{"io", "cot", "sc", "rag", "rog", "tog-r", "tog", "pg-akv", "ger", "auto"}

// RankMethod returns the place of a method in tables, from 0.
func RankMethod(method string) int {
	if i := slices.Index(methods, method); i >= 0 {
		return i
	}
	return len(methods)
}

// settle orders a group, tells its evaluations apart and looks for what keeps
// them from comparing.
func (g *Group) settle() {
	slices.SortStableFunc(g.Evaluations, func(a, b *Evaluation) int {
		return cmp.Or(cmp.Compare(RankMethod(a.Manifest().Method), RankMethod(b.Manifest().Method)),
			cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Results.Dir, b.Results.Dir))
	})
	g.tellApart()
	g.compare("knowledge graph snapshots", func(m results.Manifest) string {
		if m.Snapshot == 0 {
			return ""
		}
		return results.KG{Name: m.KG, Snapshot: m.Snapshot}.String()
	})
	g.compare("versions of triplemesh", func(m results.Manifest) string { return m.Version })
	g.compareEach("models", func(e *Evaluation) string { return strings.Join(e.Models(), ", ") })
	g.compare("readers", func(m results.Manifest) string { return cmp.Or(m.Reader, "the model") })
	g.compare("samples", func(m results.Manifest) string { return fmt.Sprintf("seed %d", m.Seed) })
	for _, e := range g.Evaluations {
		if asked := e.Manifest().Asked; asked > len(e.Records) {
			g.Warnings = append(g.Warnings, fmt.Sprintf("%s is not finished: %d of %d questions have been asked",
				e.Name, len(e.Records), asked))
		}
	}
}

// tellApart gives evaluations of the same name the rest of what differs.
func (g *Group) tellApart() {
	for _, more := range []func(results.Manifest, string) string{
		func(m results.Manifest, _ string) string { return strings.Join(m.Models, "+") },
		func(m results.Manifest, _ string) string { return fmt.Sprintf("seed %d", m.Seed) },
		func(_ results.Manifest, dir string) string { return filepath.Base(dir) },
		func(_ results.Manifest, dir string) string { return dir },
	} {
		same := make(map[string][]*Evaluation)
		for _, e := range g.Evaluations {
			same[e.Name] = append(same[e.Name], e)
		}
		for _, list := range same {
			texts := make(map[string]bool)
			for _, e := range list {
				texts[more(e.Manifest(), e.Results.Dir)] = true
			}
			if len(list) < 2 || len(texts) < 2 {
				continue
			}
			for _, e := range list {
				if text := more(e.Manifest(), e.Results.Dir); text != "" {
					e.Name += ", " + text
				}
			}
		}
	}
}

func (g *Group) compare(what string, of func(results.Manifest) string) {
	g.compareEach(what, func(e *Evaluation) string { return of(e.Manifest()) })
}

func (g *Group) compareEach(what string, of func(*Evaluation) string) {
	var values []string
	for _, e := range g.Evaluations {
		if v := of(e); v != "" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	if len(values) > 1 {
		g.Warnings = append(g.Warnings, fmt.Sprintf("different %s: %s", what, strings.Join(values, "; ")))
	}
}
