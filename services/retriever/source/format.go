package source

import (
	"path"
	"strings"
)

// Format is how statements are written in a file.
type Format int

const (
	// Unknown is no format.
	Unknown Format = iota
	// TSV is subject<TAB>relation<TAB>object, and at most two more columns for
	// the start and the end of validity.
	TSV
	// NTriples is W3C N-Triples 1.1.
	NTriples
	// NQuads is W3C N-Quads 1.1.
	NQuads
	// Turtle is W3C Turtle 1.1.
	Turtle
	// JSONLD is W3C JSON-LD 1.1.
	JSONLD
	// Wikidata is Wikidata's JSON dump: an array with one entity a line.
	Wikidata
	// Freebase is Freebase's RDF dump.
	Freebase
	// CSV is a table with headings.
	CSV
)

// endings are what names of files end in.
var endings = map[string]Format{
	".tsv": TSV, ".txt": TSV, ".tab": TSV,
	".nt": NTriples, ".ntriples": NTriples,
	".nq": NQuads, ".nquads": NQuads,
	".ttl": Turtle, ".turtle": Turtle,
	".jsonld": JSONLD, ".ndjsonld": JSONLD,
	".json": Wikidata, ".ndjson": Wikidata, ".jsonl": Wikidata,
	".csv": CSV,
}

// freebaseDump begins the name under which Freebase's dump is published. Under
// another the caller must name its format: it ends as N-Triples do.
const freebaseDump = "freebase-rdf"

// ByName tells a format by the name of a file, with or without the ending of
// an archive. ok is false where the name tells nothing.
func ByName(name string) (format Format, ok bool) {
	name = strings.ToLower(name)
	for _, a := range archives {
		name = strings.TrimSuffix(name, a.ending)
	}
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if strings.HasPrefix(name, freebaseDump) {
		return Freebase, true
	}
	format, ok = endings[path.Ext(name)]
	return format, ok
}

// String names the format as people do.
func (f Format) String() string {
	names := [...]string{"unknown", "TSV", "N-Triples", "N-Quads", "Turtle", "JSON-LD", "Wikidata JSON", "Freebase RDF", "CSV"}
	if f < 0 || int(f) >= len(names) {
		return names[Unknown]
	}
	return names[f]
}
