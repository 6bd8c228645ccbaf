package load

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// labelRank holds the predicates that name their subject, best first.
var labelRank = map[string]int{
	"http://www.w3.org/2000/01/rdf-schema#label":    0,
	"http://www.w3.org/2004/02/skos/core#prefLabel": 1,
	"http://schema.org/name":                        2,
	"https://schema.org/name":                       2,
}

// altLabel gives its subject a further name.
const altLabel = "http://www.w3.org/2004/02/skos/core#altLabel"

// Wikidata labels a property under entity/ and uses it under prop/.
const (
	wikidataEntity   = "http://www.wikidata.org/entity/"
	wikidataProperty = "http://www.wikidata.org/prop/"
)

// rdf collects statements until every label is known, and only then shows them
// as facts between names.
type rdf struct {
	terms   interner // as key writes them
	facts   [][3]uint32
	labels  map[uint32]label
	aliases map[uint32][]string
	// prefix keeps the blank nodes of one file from those of another.
	prefix string
	files  int
}

// label is a name and how well it serves: by language, then by predicate.
type label struct {
	text string
	rank int
}

func newRDF() *rdf {
	return &rdf{labels: map[uint32]label{}, aliases: map[uint32][]string{}}
}

func (g *rdf) nextFile() {
	if g.files++; g.files > 1 {
		g.prefix = fmt.Sprintf("f%d.", g.files)
	}
}

// take reads one line.
func (g *rdf) take(text string) error {
	s, ok, err := parseNTriples(text)
	if err != nil || !ok {
		return err
	}
	if s.object.kind == literal {
		if s.object.text, err = cleanName("object", s.object.text); err != nil {
			return err
		}
		if rank, ok := labelRank[s.predicate.text]; ok {
			g.name(s, rank)
			return nil
		}
		if s.predicate.text == altLabel {
			if languageRank(s.object.language) < otherLanguage {
				id := g.id(s.subject)
				g.aliases[id] = append(g.aliases[id], s.object.text)
			}
			return nil
		}
	}
	for _, t := range []term{s.subject, s.predicate, s.object} {
		if len(t.text) > maxName {
			return fmt.Errorf("a term has %d bytes, at most %d are taken", len(t.text), maxName)
		}
	}
	g.facts = append(g.facts, [3]uint32{g.id(s.subject), g.id(s.predicate), g.id(s.object)})
	return nil
}

const otherLanguage = 3

// languageRank prefers English, then what has no language, then anything.
func languageRank(language string) int {
	switch {
	case language == "en":
		return 0
	case strings.HasPrefix(language, "en-"):
		return 1
	case language == "":
		return 2
	}
	return otherLanguage
}

// name keeps the best label of a term; a good one that loses becomes an alias.
func (g *rdf) name(s statement, predicateRank int) {
	id := g.id(s.subject)
	fresh := label{s.object.text, languageRank(s.object.language)*len(labelRank) + predicateRank}
	old, ok := g.labels[id]
	if ok && old.rank <= fresh.rank {
		old, fresh = fresh, old
	}
	g.labels[id] = fresh
	if ok && old.text != fresh.text && old.rank < otherLanguage*len(labelRank) {
		g.aliases[id] = append(g.aliases[id], old.text)
	}
}

// id numbers a term. The first character of its key tells the kind.
func (g *rdf) id(t term) uint32 {
	switch t.kind {
	case iri:
		return g.terms.id("<" + t.text)
	case blank:
		return g.terms.id("_:" + g.prefix + t.text)
	}
	return g.terms.id(`"` + t.text)
}

// show hands the facts to a builder, each term by its name.
func (g *rdf) show(b *Builder) {
	entities, relations := map[uint32]struct{}{}, map[uint32]struct{}{}
	for _, f := range g.facts {
		entities[f[0]], relations[f[1]], entities[f[2]] = struct{}{}, struct{}{}, struct{}{}
	}
	entityNames, relationNames := g.names(entities), g.names(relations)
	for _, f := range g.facts {
		b.Add(Fact{Subject: entityNames[f[0]], Relation: relationNames[f[1]], Object: entityNames[f[2]]})
	}
	for id, aliases := range g.aliases {
		if name, ok := entityNames[id]; ok {
			for _, a := range aliases {
				b.Alias(name, a)
			}
		}
	}
}

// names names terms so that two IRIs never share a name: where a label does
// not tell them apart the local id is added, and where that does not either,
// the whole IRI.
func (g *rdf) names(ids map[uint32]struct{}) map[uint32]string {
	names := make(map[uint32]string, len(ids))
	for id := range ids {
		names[id] = g.plainName(id)
	}
	for _, detail := range []func(string) string{localID, func(iri string) string { return iri }} {
		for name, same := range homonyms(names, g.terms.names) {
			for _, id := range same {
				names[id] = fmt.Sprintf("%s (%s)", name, detail(g.terms.names[id][1:]))
			}
		}
	}
	return names
}

// homonyms groups the terms that are no literals and share a name.
func homonyms(names map[uint32]string, keys []string) map[string][]uint32 {
	groups := map[string][]uint32{}
	for _, id := range slices.Sorted(maps.Keys(names)) {
		if keys[id][0] != '"' {
			groups[names[id]] = append(groups[names[id]], id)
		}
	}
	maps.DeleteFunc(groups, func(_ string, same []uint32) bool { return len(same) < 2 })
	return groups
}

func (g *rdf) plainName(id uint32) string {
	key := g.terms.names[id]
	if l, ok := g.labels[id]; ok {
		return l.text
	}
	if key[0] != '<' {
		return strings.TrimPrefix(key, `"`)
	}
	if rest, ok := strings.CutPrefix(key, "<"+wikidataProperty); ok {
		if of, ok := g.terms.ids["<"+wikidataEntity+localID(rest)]; ok {
			if l, ok := g.labels[of]; ok {
				return l.text
			}
		}
	}
	name := localID(key[1:])
	if decoded, err := url.PathUnescape(name); err == nil {
		name = decoded
	}
	if clean, err := cleanName("name", strings.ReplaceAll(name, "_", " ")); err == nil {
		return clean
	}
	return key[1:]
}

// localID is what follows the last # or / of an IRI.
func localID(iri string) string {
	trimmed := strings.TrimRight(iri, "/#")
	if i := strings.LastIndexAny(trimmed, "/#"); i >= 0 && i+1 < len(trimmed) {
		return trimmed[i+1:]
	}
	return iri
}
