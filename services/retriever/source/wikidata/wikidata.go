// Package wikidata reads Wikidata's JSON dump, one entity a line, with or
// without the brackets of an array around them.
//
// An entity's key is its id. Its label, its aliases and its claims are read:
//
//   - Labels and aliases in the requested language, its kinds, and "mul"; where
//     there is none, a label in English or else any other.
//   - Claims of normal and preferred rank that have a value: items and
//     properties, texts, dates, quantities and places. Identifiers in other
//     databases and names of files are skipped, unless Options say otherwise.
//   - Of the qualifiers, start time (P580), end time (P582) and point in time
//     (P585) give the validity; others are skipped, and so are references,
//     sitelinks, descriptions and lexemes.
package wikidata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/valyala/fastjson"

	"github.com/triplemesh/triplemesh/services/retriever/source"
)

// maxLine is the longest entity in bytes; the longest ones that there are have some millions.
const maxLine = 32 << 20

// Options says what to read.
type Options struct {
	// Identifiers takes also identifiers in other databases and names of files.
	Identifiers bool
}

// Read reads a dump on all cores and returns the number of lines.
func Read(ctx context.Context, in source.Input, to source.Sink, o Options) (uint64, error) {
	return source.ReadLines(ctx, in, to, source.LineOptions{Max: maxLine}, func() source.LineFunc {
		r := NewReader(in, o)
		return r.ReadLine
	})
}

// Reader reads entities. It is used by one goroutine.
type Reader struct {
	languages source.Languages
	options   Options
	// provenance reports whether statements are to name their claims.
	provenance bool
	parser     fastjson.Parser
}

// NewReader returns a reader of a file's entities.
func NewReader(in source.Input, o Options) *Reader {
	return &Reader{languages: source.NewLanguages(in.Language), options: o, provenance: in.Provenance}
}

// ReadLine reads a line. What is wrong with one claim does not keep back the others.
func (r *Reader) ReadLine(line []byte, to source.Sink) error {
	line = bytes.TrimRight(bytes.TrimLeft(line, "[, \t"), "], \t")
	if len(line) == 0 {
		return nil
	}
	if line[0] != '{' {
		return fmt.Errorf("%.20q begins no entity; want one entity a line, as in Wikidata's dumps", line)
	}
	v, err := r.parser.ParseBytes(line)
	if err != nil {
		return fmt.Errorf("the entity is not valid JSON: %.200w", err)
	}
	// What Special:EntityData gives for one entity.
	if entities := v.GetObject("entities"); entities != nil {
		var errs []error
		entities.Visit(func(_ []byte, v *fastjson.Value) { errs = append(errs, r.readEntity(v, to)) })
		return errors.Join(errs...)
	}
	return r.readEntity(v, to)
}

func (r *Reader) readEntity(v *fastjson.Value, to source.Sink) error {
	id := string(v.GetStringBytes("id"))
	if !isID(id) {
		if v.Exists("@context") || v.Exists("@graph") || v.Exists("@id") {
			return errors.New("this is JSON-LD; name that format, or let the file's name end in .jsonld")
		}
		if id == "" {
			return errors.New("the entity has no id")
		}
		// A lexeme or another kind of entity.
		return nil
	}
	if err := r.readNames(id, v, to); err != nil {
		return err
	}
	var first error
	claims := v.GetObject("claims")
	if claims == nil {
		// As it is called in Wikibase's own files.
		claims = v.GetObject("statements")
	}
	if claims == nil {
		// PHP writes an object without members as [].
		return nil
	}
	claims.Visit(func(property []byte, group *fastjson.Value) {
		relation := string(property)
		if !isID(relation) {
			first = errors.Join(first, fmt.Errorf("claims of %.20q, which is not a property", relation))
			return
		}
		for _, claim := range group.GetArray() {
			if err := r.readClaim(id, relation, claim, to); err != nil && first == nil {
				first = fmt.Errorf("%s of %s: %w", relation, id, err)
			}
		}
	})
	return first
}

// isID reports whether a text is the id of an item or a property.
func isID(id string) bool {
	if len(id) < 2 || len(id) > 20 || (id[0] != 'Q' && id[0] != 'P') {
		return false
	}
	return !slices.ContainsFunc([]byte(id[1:]), func(c byte) bool { return c < '0' || c > '9' })
}

// allLanguages is the code of names that serve in any language.
const allLanguages = "mul"

// rank is that of a language: the one asked for, its kinds, all languages,
// English, and then any other.
func (r *Reader) rank(language []byte) int {
	switch string(language) {
	case allLanguages:
		return 2
	case "en":
		return min(source.OtherLanguage, r.languages.Rank("en"))
	}
	if rank := r.languages.Rank(string(language)); rank < source.OtherLanguage {
		return rank
	}
	return source.OtherLanguage + 1
}

// readNames passes on an entity's best label and what else it is called.
func (r *Reader) readNames(id string, v *fastjson.Value, to source.Sink) error {
	labels := v.GetObject("labels")
	best, bestRank := "", source.OtherLanguage+2
	var err error
	alias := func(v *fastjson.Value) {
		// A name that is none is skipped: the entity has others.
		if name, bad := source.NormalizeName("alias", string(v.GetStringBytes("value"))); bad == nil &&
			name != best && err == nil {
			err = to.Alias(id, name)
		}
	}
	if labels != nil {
		labels.Visit(func(language []byte, v *fastjson.Value) {
			rank := r.rank(language)
			if rank >= bestRank {
				return
			}
			if name, bad := source.NormalizeName("label", string(v.GetStringBytes("value"))); bad == nil {
				best, bestRank = name, rank
			}
		})
		if best != "" {
			err = to.Label(id, best, bestRank)
		}
		labels.Visit(func(language []byte, v *fastjson.Value) {
			if r.rank(language) < source.OtherLanguage {
				alias(v)
			}
		})
	}
	if aliases := v.GetObject("aliases"); aliases != nil {
		aliases.Visit(func(language []byte, group *fastjson.Value) {
			if r.rank(language) < source.OtherLanguage {
				for _, v := range group.GetArray() {
					alias(v)
				}
			}
		})
	}
	return err
}
