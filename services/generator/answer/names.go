package answer

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// entities reads the answer entities from a text. They are in braces; if the model forgot these, or
// put them only around what the question names itself, they are the other names of the evidence in
// the text. If there are none, the text itself is the answer if it is short.
func entities(text string, req Request) []string {
	facts := req.FixedGraph.GetTriples()
	found := Braces(text)
	if !slices.ContainsFunc(found, func(name string) bool { return !kgtext.Mentions(req.Question, name) }) {
		if others := namesInText(text, req.Question, evidence(facts, req.Paths)); len(others) > 0 {
			found = others
		}
	}
	if len(found) == 0 {
		found = shortAnswer(text)
	}
	return variants(found, facts)
}

// evidence returns the names of the supported facts and of the reasoning paths.
func evidence(facts []*graphv1.FixedTriple, paths []*graphv1.ReasoningPath) []string {
	var names []string
	for _, f := range facts {
		if isSupported(f) {
			names = append(names, f.GetTriple().GetSubject(), f.GetTriple().GetObject())
		}
	}
	for _, p := range paths {
		names = append(names, p.GetEntities()...)
	}
	return names
}

// namesInText returns the names that occur in the text and not in the question, in the order of the
// text. Of nested names the longest counts.
func namesInText(text, question string, evidence []string) []string {
	asked := kgtext.FoldWords(question)
	names := map[string]string{} // as the evidence spells it, by folded name
	for _, name := range evidence {
		if key := kgtext.Fold(name); key != "" && !asked.Mention(key) {
			names[key] = name
		}
	}
	keys := make([]string, 0, len(names))
	for key := range names {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	written := " " + kgtext.Fold(text) + " "
	type found struct {
		at   int
		name string
	}
	var in []found
	for _, key := range keys {
		at := strings.Index(written, " "+key+" ")
		if at < 0 {
			continue
		}
		in = append(in, found{at, names[key]})
		written = strings.ReplaceAll(written, " "+key+" ", " "+strings.Repeat("\x00", len(key))+" ")
	}
	slices.SortFunc(in, func(a, b found) int { return cmp.Compare(a.at, b.at) })
	var entities []string
	for _, f := range in[:min(len(in), maxAnswers)] {
		entities = append(entities, f.name)
	}
	return entities
}

// variants adds to each entity the objects of the same subject and relation whose names start with
// its own. Graphs merged from several sources have one thing under two names ("Spanish", "Spanish
// Language"), and a model gives the shorter one.
func variants(entities []string, facts []*graphv1.FixedTriple) []string {
	all := slices.Clone(entities)
	for _, e := range entities {
		for _, f := range facts {
			if f.GetTriple().GetObject() != e {
				continue
			}
			for _, other := range facts {
				if o := other.GetTriple().GetObject(); sameFact(f, other) && strings.HasPrefix(o, e+" ") &&
					!slices.Contains(all, o) && len(all) < maxAnswers {
					all = append(all, o)
				}
			}
		}
	}
	return all
}

func sameFact(a, b *graphv1.FixedTriple) bool {
	return a.GetTriple().GetSubject() == b.GetTriple().GetSubject() &&
		a.GetTriple().GetRelation() == b.GetTriple().GetRelation()
}

// formatFact returns a triple as a line of the prompt. A name that reads as a sentence is marked as
// a text and quoted: small models take a bare one for an instruction. Names of entities hardly ever
// do: 8 of 19,723 facts of the evaluations.
func formatFact(t *graphv1.Triple) string {
	relation := kgtext.VerbaliseRelation(t.GetRelation())
	if isPlain(t) && !kgtext.IsText(t.GetObject()) {
		return kgtext.FormatFact(t)
	}
	object := &graphv1.Triple{Object: quoteText(t.GetObject()), Validity: t.GetValidity()}
	return quoteText(t.GetSubject()) + " | " + quoteText(relation) + " | " + kgtext.FormatObject(object)
}

// dropTexts leaves out facts with a text where a name belongs, if others say the same of the subject: a
// model reads what a text commands, quoted or not. A subject or relation that is a text says nothing as
// long as there are other facts.
func dropTexts(facts []*graphv1.FixedTriple) []*graphv1.FixedTriple {
	type key struct{ subject, relation string }
	named := map[key]bool{} // of the facts that are all names
	for _, f := range facts {
		t := f.GetTriple()
		if k := (key{t.GetSubject(), t.GetRelation()}); !named[k] && isPlain(t) && !kgtext.IsText(t.GetObject()) {
			named[k] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(facts), func(f *graphv1.FixedTriple) bool {
		t := f.GetTriple()
		return len(named) > 0 && !isPlain(t) || named[key{t.GetSubject(), t.GetRelation()}] &&
			kgtext.IsText(t.GetObject())
	})
}

// isPlain reports whether a triple's subject and relation are no texts.
func isPlain(t *graphv1.Triple) bool {
	return !kgtext.IsText(t.GetSubject()) && !kgtext.IsText(kgtext.VerbaliseRelation(t.GetRelation()))
}

// What stands around a text.
const opening, closing = "(a text: “", "”)"

// quoteText marks a name that reads as a sentence. Its braces would mark an answer.
func quoteText(name string) string {
	if !kgtext.IsText(name) {
		return name
	}
	return opening + strings.NewReplacer("{", "(", "}", ")", "“", "\"", "”", "\"").Replace(name) + closing
}

// probability of an answer is the mean over the tokens in braces, or over all tokens if there are
// none. Braces themselves do not count.
func probability(tokens []llm.Token) *float32 {
	var inside []llm.Token
	depth := 0
	for _, t := range tokens {
		counts := false
		for _, r := range t.Text {
			switch {
			case r == '{':
				depth++
			case r == '}':
				depth = max(0, depth-1)
			case depth > 0 && !strings.ContainsRune(" \n\t", r):
				counts = true
			}
		}
		if counts {
			inside = append(inside, t)
		}
	}
	if len(inside) > 0 {
		return mean(inside)
	}
	return mean(tokens)
}

// mean is the geometric mean of the tokens' probabilities, at most 1. It is
// nil without tokens: the model server returned no probabilities.
func mean(tokens []llm.Token) *float32 {
	if len(tokens) == 0 {
		return nil
	}
	var sum float64
	for _, t := range tokens {
		sum += t.LogProb
	}
	p := float32(math.Exp(min(0, sum/float64(len(tokens)))))
	return &p
}
