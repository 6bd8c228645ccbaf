package wikidata

import (
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/valyala/fastjson"
)

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

// names hands on an entity's best label and what else it is called.
func (r *Reader) names(id string, v *fastjson.Value, to source.Sink) error {
	labels := v.GetObject("labels")
	best, bestRank := "", source.OtherLanguage+2
	var err error
	alias := func(v *fastjson.Value) {
		// A name that is none is passed over: the entity has others.
		if name, bad := source.Name("alias", string(v.GetStringBytes("value"))); bad == nil && name != best && err == nil {
			err = to.Alias(id, name)
		}
	}
	if labels != nil {
		labels.Visit(func(language []byte, v *fastjson.Value) {
			rank := r.rank(language)
			if rank >= bestRank {
				return
			}
			if name, bad := source.Name("label", string(v.GetStringBytes("value"))); bad == nil {
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
