package answer

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

func TestTextLines(t *testing.T) {
	brandt := facts("V | mayor | Brandt")[0]
	brandt.Triple.Validity = &graphv1.ValidityInterval{Start: "1998", End: "2006"}
	for _, c := range []struct {
		name  string
		facts []*graphv1.FixedTriple
		limit int
		want  []string
	}{
		{"each subject and relation stands on a line, in their order", facts("V | area | 9",
			"V | populationTotal | 48000"), 9, []string{"V | area | 9", "V | population total | 48000"}},
		{"objects of one fact stand together, the nearest first", facts("V | river | Orla", "V | area | 9",
			"V | river | Tessen"), 9, []string{"V | area | 9", "V | river | Tessen; Orla"}},
		{"of a list the nearest two are told", facts("V | river | Elde", "V | river | Orla", "V | river | Tessen"), 9,
			[]string{"V | river | Tessen; Orla"}},
		{"the limit keeps the nearest to the question", facts("V | a | 1", "V | b | 2", "V | c | 3"), 2,
			[]string{"V | b | 2", "V | c | 3"}},
		{"the same relation of two subjects is two facts", facts("V | area | 9", "W | area | 8"), 9,
			[]string{"V | area | 9", "W | area | 8"}},
		{"what changed over time says when", []*graphv1.FixedTriple{brandt}, 9,
			[]string{"V | mayor | Brandt (1998 to 2006)"}},
		{"drafts are not told where something is confirmed", facts("V | area | 7 | draft", "V | area | 9"), 9,
			[]string{"V | area | 9"}},
		{"drafts are told where nothing is", facts("V | area | 7 | draft"), 9, []string{"V | area | 7 (unconfirmed)"}},
		{"nothing is nothing", nil, 9, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (Config{TextFacts: c.limit, TextObjects: 2}).textLines(c.facts); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestProse(t *testing.T) {
	for _, c := range []struct {
		name, raw, want string
	}{
		{"a text is itself", " Velmora is a town.\nIt lies in Norland. ", "Velmora is a town.\nIt lies in Norland."},
		{"reasoning before the mark is no part of it", "A town. I recall its country.\nAnswer: Velmora is in Norland.",
			"Velmora is in Norland."},
		{"the mark may be in bold, or a heading", "It is a town.\n\n**Answer:** Velmora is a town.",
			"Velmora is a town."},
		{"the last of several marks counts", "Answer: maybe\nANSWER: Velmora is a town.", "Velmora is a town."},
		{"the word within a line is no mark", "Its answer: a flood.", "Its answer: a flood."},
		{"reasoning that comes to no answer is what there is", "Velmora is a town. I recall",
			"Velmora is a town. I recall"},
		{"braces are taken off", "{Velmora} is in {Norland}.", "Velmora is in Norland."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := extractProse(llm.Response{Text: c.raw}); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheProbabilityOfATextIsThatOfItsWords(t *testing.T) {
	resp := llm.Response{Text: "Hm.\nAnswer: A {B}."}
	for i, piece := range []string{"Hm.", "\nAnswer", ":", " ", "A", " {B}", "."} {
		resp.Tokens = append(resp.Tokens, llm.Token{Text: piece, LogProb: -float64(i)})
	}
	if _, p := extractProse(resp); p == nil || math.Abs(float64(*p)-math.Exp(-5)) > 1e-6 {
		t.Errorf("got %v, want the mean over the last three tokens", p)
	}
	if _, p := extractProse(llm.Response{Text: "A"}); p != nil {
		t.Errorf("got %v of no tokens", *p)
	}
}

func FuzzProse(f *testing.F) {
	f.Add("a\nAnswer: b {c}", 3)
	f.Add("Answer:", 1)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = max(0, min(cut, len(text)))
		got, p := extractProse(llm.Response{Text: text, Tokens: []llm.Token{{Text: text[:cut]}, {Text: text[cut:]}}})
		if strings.ContainsAny(got, "{}") || utf8.ValidString(text) && !utf8.ValidString(got) || p != nil && *p != 1 {
			t.Errorf("prose(%q) is %q, %v", text, got, p)
		}
	})
}

// model is a completer made of a function.
type model func(llm.Request) (llm.Response, error)

func (m model) Complete(_ context.Context, req llm.Request) (llm.Response, error) { return m(req) }

func TestWriteAText(t *testing.T) {
	const asks, names = "Tell me about Velmora.", "who founded velmora"
	for _, c := range []struct {
		name, question string
		form           graphv1.AnswerForm
		reply, text    string
		entities       int
		taken          graphv1.AnswerForm
		warned         string
	}{
		{"a question that asks to be told gets a text", asks, 0, "It is a {town}.", "It is a town.", 0,
			graphv1.AnswerForm_ANSWER_FORM_TEXT, ""},
		{"a question that names its answer gets entities", names, 0, "{Reik}", "{Reik}", 1,
			graphv1.AnswerForm_ANSWER_FORM_ENTITIES, ""},
		{"the form asked for counts", names, graphv1.AnswerForm_ANSWER_FORM_TEXT, "Reik did.", "Reik did.", 0,
			graphv1.AnswerForm_ANSWER_FORM_TEXT, ""},
		{"so does the other", asks, graphv1.AnswerForm_ANSWER_FORM_ENTITIES, "A {town}", "A {town}", 1,
			graphv1.AnswerForm_ANSWER_FORM_ENTITIES, ""},
		{"a text of signs is none", asks, 0, "Answer: …", "…", 0, graphv1.AnswerForm_ANSWER_FORM_TEXT,
			llm.WarnUnusable},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := model(func(llm.Request) (llm.Response, error) { return llm.Response{Text: c.reply}, nil })
			got, err := New(m, DefaultConfig()).Write(t.Context(), Request{Question: c.question,
				Form: c.form}, llm.NewLedger(nil))
			if err != nil {
				t.Fatal(err)
			}
			warned := ""
			for _, w := range got.Warnings {
				warned += w.GetCode()
			}
			if got.Text != c.text || len(got.Entities) != c.entities || got.Form != c.taken || warned != c.warned {
				t.Errorf("got %q, %q as %v with %q", got.Text, got.Entities, got.Form, warned)
			}
		})
	}
}

// The forms differ in their examples, the styles within a form too.
func TestEveryFormAndStyleAsksInItsOwnWay(t *testing.T) {
	seen := map[string]string{}
	for form := graphv1.AnswerForm_ANSWER_FORM_ENTITIES; form <= graphv1.AnswerForm_ANSWER_FORM_TEXT; form++ {
		const last = generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS
		for style := generatorv1.AnswerStyle_ANSWER_STYLE_DIRECT; style <= last; style++ {
			var asked []llm.Message
			m := model(func(r llm.Request) (llm.Response, error) {
				asked = r.Messages
				return llm.Response{Text: "x"}, nil
			})
			_, err := New(m, DefaultConfig()).Write(t.Context(), Request{
				Question: "the question", Style: style, Form: form,
				FixedGraph: &graphv1.FixedGraph{Triples: facts("S | r | in the graph")},
				Paths: []*graphv1.ReasoningPath{{Entities: []string{"S", "on a path"},
					Steps: []*graphv1.RelationStep{{Relation: "r"}}}},
			}, llm.NewLedger(nil))
			if err != nil || len(asked) == 0 {
				t.Fatal(err)
			}
			name := form.String() + " " + style.String()
			if other := seen[asked[0].Content]; other != "" {
				t.Errorf("%s asks as %s does", name, other)
			}
			seen[asked[0].Content] = name
			last := asked[len(asked)-1].Content
			if !strings.Contains(last, "the question") ||
				strings.Contains(last, "in the graph") != (style == generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH) ||
				strings.Contains(last, "on a path") != (style == generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS) {
				t.Errorf("%s asks %q", name, last)
			}
		}
	}
}
