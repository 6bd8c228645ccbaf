package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// formats are the names of file formats as people type them.
var formats = map[string]retrieverv1.Format{
	"tsv":           retrieverv1.Format_FORMAT_TSV,
	"csv":           retrieverv1.Format_FORMAT_CSV,
	"n-triples":     retrieverv1.Format_FORMAT_N_TRIPLES,
	"n-quads":       retrieverv1.Format_FORMAT_N_QUADS,
	"turtle":        retrieverv1.Format_FORMAT_TURTLE,
	"json-ld":       retrieverv1.Format_FORMAT_JSON_LD,
	"wikidata-json": retrieverv1.Format_FORMAT_WIKIDATA_JSON,
	"freebase":      retrieverv1.Format_FORMAT_FREEBASE,
}

// formatNames lists them for kong: empty is a name too.
func formatNames() string {
	names := []string{""}
	for name := range formats {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// headers are what the flags say of the load, and of each file.
func (c *kgLoad) headers() (*retrieverv1.LoadHeader, *retrieverv1.FileHeader, error) {
	header := &retrieverv1.LoadHeader{
		Kg: c.Name, Strict: c.Strict, NoActivate: c.NoActivate, Language: c.Language, Resume: c.Resume,
	}
	switch {
	case c.Add:
		header.Mode = retrieverv1.LoadMode_LOAD_MODE_ADD
	case c.Remove:
		header.Mode = retrieverv1.LoadMode_LOAD_MODE_REMOVE
	}
	if c.NoVectors {
		header.Vectors = retrieverv1.Vectors_VECTORS_NONE
	}
	file := &retrieverv1.FileHeader{Format: formats[c.Format]}
	if c.Columns == "" && c.Separator == "" {
		return header, file, nil
	}
	if utf8.RuneCountInString(c.Separator) > 1 {
		return nil, nil, fmt.Errorf("--separator %q: want one character", c.Separator)
	}
	file.Columns = &retrieverv1.Columns{Separator: c.Separator}
	names := strings.Split(c.Columns, ",")
	into := []*string{&file.Columns.Subject, &file.Columns.Relation, &file.Columns.Object, &file.Columns.Start, &file.Columns.End}
	if len(names) == 2 || len(names) > len(into) {
		return nil, nil, fmt.Errorf("--columns %q: want the heading of the subject alone, or those of subject, relation and object, and of start and end where there are any", c.Columns)
	}
	for i, name := range names {
		*into[i] = strings.TrimSpace(name)
	}
	return header, file, nil
}
