package answer

import (
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
)

// styles are the prompts of one form.
type styles map[generatorv1.AnswerStyle]*prompt.Prompt

// forms are the prompts of each form.
type forms map[graphv1.AnswerForm]styles

func loadPrompts() forms {
	of := func(prefix string) styles {
		return styles{
			generatorv1.AnswerStyle_ANSWER_STYLE_DIRECT: prompt.Must(prompts.Files, prefix+"_direct"),
			generatorv1.AnswerStyle_ANSWER_STYLE_CHAIN_OF_THOUGHT: prompt.Must(prompts.Files,
				prefix+"_chain_of_thought"),
			generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH: prompt.Must(prompts.Files, prefix+"_from_graph"),
			generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS: prompt.Must(prompts.Files, prefix+"_from_paths"),
		}
	}
	return forms{
		graphv1.AnswerForm_ANSWER_FORM_ENTITIES: of("answer"),
		graphv1.AnswerForm_ANSWER_FORM_TEXT:     of("answer_text"),
	}
}

// messages is the prompt for the request's style and form.
func (w *Writer) messages(req Request, a *Answer) ([]llm.Message, error) {
	data := struct {
		Question string
		Facts    []string
		Paths    []string
	}{Question: req.Question}
	style := req.style()
	switch style {
	case generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH:
		if a.Form == graphv1.AnswerForm_ANSWER_FORM_TEXT {
			data.Facts = w.cfg.textLines(req.FixedGraph.GetTriples())
		} else {
			data.Facts = w.cfg.factLines(req.FixedGraph.GetTriples(), a)
		}
	case generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS:
		data.Paths = w.cfg.pathLines(req.Paths, a)
	}
	return w.prompts[a.Form][style].Messages(data)
}

// style is the requested style or the default for the given evidence.
func (r Request) style() generatorv1.AnswerStyle {
	switch {
	case r.Style != generatorv1.AnswerStyle_ANSWER_STYLE_UNSPECIFIED:
		return r.Style
	case len(r.FixedGraph.GetTriples()) > 0:
		return generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH
	}
	return generatorv1.AnswerStyle_ANSWER_STYLE_DIRECT
}

// factLines are the facts of a fixed graph, each on a line.
func (c Config) factLines(facts []*graphv1.FixedTriple, a *Answer) []string {
	facts = dropTexts(facts)
	if len(facts) > c.MaxFacts {
		a.warn(llm.WarnShortened, "the fixed graph has %d triples; the %d nearest to the question were used",
			len(facts), c.MaxFacts)
		facts = facts[len(facts)-c.MaxFacts:]
	}
	lines := make([]string, len(facts))
	for i, f := range facts {
		lines[i] = formatFact(f.GetTriple())
		if f.GetStatus() != graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED {
			lines[i] += " (unconfirmed)"
		}
	}
	return lines
}

// pathLines are reasoning paths, each on a line with the entities on it; paths that differ only in
// their ends share a line. If these are too many, the paths of one relation path share a line
// without the entities between. Paths that end in a node without a name lead to no answer.
func (c Config) pathLines(paths []*graphv1.ReasoningPath, a *Answer) []string {
	paths = slices.DeleteFunc(kgtext.DropTextPaths(paths), func(p *graphv1.ReasoningPath) bool {
		return len(p.GetEntities()) < 2 || kgtext.IsOpaqueName(kgtext.PathEnd(p))
	})
	lines, groups := kgtext.FormatReadablePaths(paths), kgtext.GroupPaths(paths)
	if len(lines) <= c.MaxPaths && !slices.ContainsFunc(groups,
		func(g *kgtext.PathGroup) bool { return len(g.Ends) > c.MaxEnds }) {
		return lines
	}
	if len(groups) > c.MaxPaths {
		a.warn(llm.WarnShortened, "the reasoning paths have %d relation paths; the first %d were used",
			len(groups), c.MaxPaths)
		groups = groups[:c.MaxPaths]
	}
	lines = make([]string, len(groups))
	for i, g := range groups {
		ends := g.Ends
		if len(ends) > c.MaxEnds {
			a.warn(llm.WarnShortened, "the path %q leads to %d entities; the first %d were used", g.Label(),
				len(ends), c.MaxEnds)
			ends = ends[:c.MaxEnds]
		}
		lines[i] = g.Label() + " -> " + strings.Join(ends, "; ")
	}
	return lines
}
