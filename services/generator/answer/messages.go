package answer

import (
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	"github.com/triplemesh/triplemesh/internal/verbalise"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
)

const (
	// maxFacts bounds the facts in a prompt; the ones nearest to the question, at
	// the end of the fixed graph, are kept.
	maxFacts = 120
	// maxLines and maxEnds bound the reasoning paths in a prompt: how many lines,
	// best first, and how many entities a relation path leads to. Both at their
	// bounds are some 2,500 tokens.
	maxLines = 16
	maxEnds  = 24
)

// styles are the prompts of one form.
type styles map[generatorv1.AnswerStyle]*prompt.Prompt

// forms are the prompts of each form.
type forms map[generatorv1.AnswerForm]styles

func load() forms {
	of := func(prefix string) styles {
		return styles{
			generatorv1.AnswerStyle_ANSWER_STYLE_DIRECT:           prompt.Must(prompts.Files, prefix+"_direct"),
			generatorv1.AnswerStyle_ANSWER_STYLE_CHAIN_OF_THOUGHT: prompt.Must(prompts.Files, prefix+"_chain_of_thought"),
			generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH:       prompt.Must(prompts.Files, prefix+"_from_graph"),
			generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS:       prompt.Must(prompts.Files, prefix+"_from_paths"),
		}
	}
	return forms{
		generatorv1.AnswerForm_ANSWER_FORM_ENTITIES: of("answer"),
		generatorv1.AnswerForm_ANSWER_FORM_TEXT:     of("answer_text"),
	}
}

// messages are what the model is asked in the style and form taken.
func (w *Writer) messages(req Request, a *Answer) ([]llm.Message, error) {
	data := struct {
		Question string
		Facts    []string
		Paths    []string
	}{Question: req.Question}
	style := req.style()
	switch style {
	case generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH:
		if a.Form == generatorv1.AnswerForm_ANSWER_FORM_TEXT {
			data.Facts = told(req.FixedGraph.GetTriples(), w.cfg.TextFacts)
		} else {
			data.Facts = shown(req.FixedGraph.GetTriples(), a)
		}
	case generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS:
		data.Paths = followed(req.Paths, a)
	}
	return w.prompts[a.Form][style].Messages(data)
}

// style is the style asked for or, where none was, the one that suits what the
// answer can be written from.
func (r Request) style() generatorv1.AnswerStyle {
	switch {
	case r.Style != generatorv1.AnswerStyle_ANSWER_STYLE_UNSPECIFIED:
		return r.Style
	case len(r.FixedGraph.GetTriples()) > 0:
		return generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH
	}
	return generatorv1.AnswerStyle_ANSWER_STYLE_DIRECT
}

// shown are the facts of a fixed graph, each on a line.
func shown(facts []*graphv1.FixedTriple, a *Answer) []string {
	if len(facts) > maxFacts {
		a.warn(llm.WarnShortened, "the fixed graph has %d triples; the %d nearest to the question were used", len(facts), maxFacts)
		facts = facts[len(facts)-maxFacts:]
	}
	lines := make([]string, len(facts))
	for i, f := range facts {
		lines[i] = fact(f.GetTriple())
		if f.GetStatus() != graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED {
			lines[i] += " (unconfirmed)"
		}
	}
	return lines
}

// followed are reasoning paths, each on a line with the entities it passes,
// those that differ in their ends only on one. Where these are too many, those
// of one relation path share a line, and what they pass is left out. Paths that
// end in a node without a name lead to no answer.
func followed(paths []*graphv1.ReasoningPath, a *Answer) []string {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p *graphv1.ReasoningPath) bool {
		return len(p.GetEntities()) < 2 || verbalise.Opaque(verbalise.End(p))
	})
	lines, groups := verbalise.Walks(paths), verbalise.Group(paths)
	if len(lines) <= maxLines && !slices.ContainsFunc(groups, func(g *verbalise.PathGroup) bool { return len(g.Ends) > maxEnds }) {
		return lines
	}
	if len(groups) > maxLines {
		a.warn(llm.WarnShortened, "the reasoning paths have %d relation paths; the first %d were used", len(groups), maxLines)
		groups = groups[:maxLines]
	}
	lines = make([]string, len(groups))
	for i, g := range groups {
		ends := g.Ends
		if len(ends) > maxEnds {
			a.warn(llm.WarnShortened, "the path %q leads to %d entities; the first %d were used", g.Words(), len(ends), maxEnds)
			ends = ends[:maxEnds]
		}
		lines[i] = g.Words() + " -> " + strings.Join(ends, "; ")
	}
	return lines
}
