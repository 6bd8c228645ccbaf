package reader_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/reader"
)

const rivers = "What rivers flow through Velmora?"

// questions are the questions that the tests' readers know.
var questions = []dataset.Question{
	{ID: "rivers", Question: rivers, Answers: []string{"Tessen", "Orla"}, Aliases: [][]string{{"River Tessen"}, nil},
		Paths: [][]string{{"location.location.rivers"}}},
	{ID: "year", Question: "when was velmora founded", Answers: []string{"1204"}},
	{ID: "film", Question: "which film did Erik Halvorsen make", Answers: []string{"Salt; Wind"}},
	{ID: "no", Question: "Is Velmora in Norland?", Answers: []string{"no"}},
	{ID: "open", Question: "Tell me about Velmora.", Kind: dataset.Open,
		Answers: []string{"Velmora is a town of 48000 people whose mayor is Ida Reik."}},
}

func newReader(t *testing.T, name string) *reader.Reader {
	t.Helper()
	r, err := reader.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	r.Learn(questions, 1)
	return r
}

// request is a call of a task about the rivers unless the text has a question.
func request(task, text, schema string) llm.Request {
	if !strings.Contains(text, "Question: ") {
		text = "Question: " + rivers + "\n" + text
	}
	req := llm.Request{Task: task, Messages: []llm.Message{{Role: llm.RoleSystem, Content: "Question: another"},
		{Role: llm.RoleUser, Content: text}}}
	if schema != "" {
		req.Schema = &llm.Schema{Name: "s", JSON: []byte(schema)}
	}
	return req
}

const (
	pathsSchema = `{"properties":{"paths":{"type":"array","maxItems":2}}}`
	rankSchema  = `{"properties":{"ranked":{"type":"array","maxItems":3}}}`
	editsSchema = `{"properties":{"edits":{"maxItems":2},"add":{"maxItems":1}}}`
)

func answersSchema(options string) string {
	return `{"properties":{"answers":{"items":{"type":"string","enum":[` + options + `]}}}}`
}

func TestFormats(t *testing.T) {
	t.Parallel()
	const (
		group  = "Velmora -> twinned city: Harn; Oster Bay\nVelmora -> body of water: River Tessen; ORLA; Tessen; …"
		nobody = "Velmora -> twinned city: Harn; Oster Bay"
	)
	for _, c := range []struct{ name, task, text, schema, want, wrong string }{
		{"facts name the answers as subject or object, once each", "answer", "Facts:\nVelmora | river | Tessen " +
			"(since 1204)\nOrla | flows through | Velmora (unconfirmed)\nVelmora | river | River Tessen\n" +
			"Velmora | twin | Harn\nQuestion: " + rivers, "", "{Tessen} {Orla}", "{Harn}"},
		{"facts without an answer give empty braces, or a wrong name", "answer", "Facts:\nVelmora | twin | Harn\n" +
			"Question: " + rivers, "", "{}", "{Harn}"},
		{"a name that joins its parts by a semicolon is one", "answer", "Paths:\nErik Halvorsen -> made -> Tides; " +
			"Salt; Wind\nQuestion: which film did Erik Halvorsen make", "", "{Salt; Wind}", "{Tides}"},
		{"the ends of paths go before what they pass", "answer", "Paths:\nVelmora -> river -> Tessen -> joins -> " +
			"Orla\nVelmora -> twin -> Harn\nQuestion: " + rivers, "", "{Orla}", "{Harn}"},
		{"an answer in the middle of a path is found if no path ends in one", "answer", "Paths:\nVelmora -> river -> " +
			"Tessen -> mouth -> Harn\nQuestion: " + rivers, "", "{Tessen}", "{Harn}"},
		{"a date answers the question for its year", "answer", "Facts:\nVelmora | founded | 1204-05-01\n" +
			"Velmora | burnt | 1312\nQuestion: when was velmora founded", "", "{1204-05-01}", "{1312}"},
		{"a yes-or-no question is answered by its verdict", "answer", "Facts:\nVelmora | country | Marenland\n" +
			"Question: Is Velmora in Norland?", "", "{No}", "{Yes}"},
		{"a text is made of the facts in the reference", "answer", "Facts:\nVelmora | twin | Harn\n" +
			"Velmora | mayor | Ida Reik\nQuestion: Tell me about Velmora.", "", "Velmora, mayor, Ida Reik.",
			"Velmora, twin, Harn."},
		{"candidates are spelt as the paths spell them", "candidate-answers", group, "", "{River Tessen} {ORLA}",
			"{Harn}|{Oster Bay}"},
		{"no candidate is among the ends", "candidate-answers", nobody, "", "{}", "{Harn}|{Oster Bay}"},
		{"a review is read again", "candidate-answers", group + "\nReview: one is wrong\nCandidates:\n- Harn (wrong)",
			"", "{River Tessen} {ORLA}", "{Harn}|{Oster Bay}"},
		{"gold relation paths are chosen", "relation-paths", "1. Velmora -> population\n2. Velmora -> is rivers of\n" +
			"3. Velmora -> rivers -> mouth", pathsSchema, `{"paths":[2]}`, `{"paths":[1]}|{"paths":[3]}`},
		{"a set with a wrong and a missing candidate", "evaluate-question", group + "\nCandidates: Orla; Harn", "",
			`{"correct":false,"incomplete":true,"reason":"not every candidate is right, and an answer is missing"}`,
			`{"correct":true,"incomplete":false,"reason":"every candidate is right"}`},
		{"a set that is complete by aliases", "evaluate-question", group + "\nCandidates: Orla; Tessen", "",
			`{"correct":true,"incomplete":false,"reason":"every candidate is right"}`,
			`{"correct":false,"incomplete":true,"reason":"not every candidate is right, and an answer is missing"}`},
		{"a right answer is judged so", "evaluate-answer", "Path: Velmora -> river -> Orla\n" +
			`Is "Orla" a right answer? yes or no`, "", "yes", "no"},
		{"a wrong answer is judged so", "evaluate-answer", "Path: Velmora -> twin -> Orla \"Bay\"\n" +
			`Is "Orla "Bay"" a right answer? yes or no`, "", "no", "yes"},
		{"so is one by its relation", "evaluate-answer", "Path: Velmora -> river -> Orla\nQuestion: " + rivers +
			"\nAnswer: Orla", "", "yes", "no"},
		{"and a wrong one", "evaluate-answer", "Path: Velmora -> twin -> Harn\nQuestion: " + rivers + "\nAnswer: Harn",
			"", "no", "yes"},
		{"paths with an answer suffice", "judge-sufficiency", "Velmora -> river -> Harn; Orla\n" +
			"Are these facts enough to answer? yes or no", "", "yes", "no"},
		{"paths without an answer do not suffice", "judge-sufficiency", "Velmora -> twin -> Harn\n" +
			"Are these facts enough to answer? yes or no", "", "no", "yes"},
		{"the answers rank first", "rank-candidates", "About: Velmora -> river\n1. Harn\n2. Orla\n3. Tessen",
			rankSchema, `{"ranked":[{"item":2,"weight":0.5},{"item":3,"weight":0.5}]}`,
			`{"ranked":[{"item":1,"weight":1}]}`},
		{"reflection keeps the answers among the options", "reflect", nobody + "\nCandidates:\n- Harn",
			answersSchema(`"Harn","Orla"`), `{"answers":["Orla"]}`, `{"answers":["Harn"]}`},
		{"reflection without an answer takes the first option", "reflect", nobody + "\nCandidates:\n- Harn",
			answersSchema(`"Harn","Oster Bay"`), `{"answers":["Harn"]}`,
			`{"answers":["Harn"]}|{"answers":["Oster Bay"]}`},
		{"edits replace, keep and add", "verify", "Evidence:\n1. Velmora | river | Tessen\n2. Velmora | twin | Harn\n" +
			"3. Velmora | body of water | Orla (since 1204)\nDraft:\n1. Velmora | river | Elde (nearest evidence 1)\n" +
			"2. Velmora | country | Norland", editsSchema,
			`{"add":[3],"edits":[{"draft":1,"action":"replace","evidence":1},` +
				`{"draft":2,"action":"keep","evidence":0}]}`,
			`{"add":[2],"edits":[{"draft":1,"action":"keep","evidence":0},` +
				`{"draft":2,"action":"keep","evidence":0}]}`},
		{"a rewriting has the answers of the evidence", "verify", "Evidence:\nVelmora | river | Tessen\n" +
			"Velmora | twin | Harn\nDraft:\nVelmora | river | Elde\nVelmora | river | Orla\n", "",
			"Velmora | river | Tessen", "Velmora | river | Elde\nVelmora | twin | Harn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for name, wants := range map[string]string{"oracle": c.want, "oracle:1": c.wrong} {
				resp, ok, err := newReader(t, name).Substitute(t.Context(), request(c.task, c.text, c.schema))
				if err != nil || !ok {
					t.Fatalf("%s: %v, %v", name, ok, err)
				}
				found := false
				for want := range strings.SplitSeq(wants, "|{") {
					found = found || strings.TrimPrefix(resp.Text, "{") == strings.TrimPrefix(want, "{")
				}
				if !found {
					t.Errorf("%s gives\n%s, want\n%s", name, resp.Text, wants)
				}
				if resp.Model != name || resp.FinishReason != "stop" {
					t.Errorf("model %q, finish reason %q", resp.Model, resp.FinishReason)
				}
			}
		})
	}
}

func TestCallsThatGoToTheModel(t *testing.T) {
	t.Parallel()
	r := newReader(t, "oracle")
	for _, c := range []struct{ name, task, text, schema string }{
		{"a pseudo-graph", "pseudo-graph", "", ""},
		{"claims", "claims", "Text: Orla is a river", ""},
		{"a follow-up question", "rewrite-question", "Last question: and now?", ""},
		{"relation paths in the model's words", "relation-paths", "Start: Velmora", ""},
		{"a choice of relation paths none of which is known to be right", "relation-paths",
			"1. Velmora -> twin", pathsSchema},
		{"a ranking of relations", "rank-candidates", "About: Velmora\n1. river\n2. twin", rankSchema},
		{"an answer from memory", "answer", "", ""},
		{"an answer from an empty graph", "answer", "Facts:\nQuestion: " + rivers, ""},
		{"a task of another version", "summarise", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if resp, ok, err := r.Substitute(t.Context(), request(c.task, c.text, c.schema)); ok || err != nil {
				t.Errorf("got %q, %v, %v", resp.Text, ok, err)
			}
		})
	}
}

func TestAQuestionOutsideTheSetIsAnError(t *testing.T) {
	t.Parallel()
	_, ok, err := newReader(t, "oracle").Substitute(t.Context(),
		request("candidate-answers", "Question: who?\nA -> b: C", ""))
	if !ok || err == nil || !strings.Contains(err.Error(), `"who?"`) {
		t.Errorf("got %v, %v", ok, err)
	}
}

func TestProbabilitiesAreThoseOfTheReader(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]float64{"oracle": .99, "oracle:0.2": .8, "oracle:1": .5} {
		r := newReader(t, name)
		for task, text := range map[string]string{"evaluate-answer": `Is "Orla" a right answer? yes or no`,
			"answer": "Facts:\nVelmora | river | Orla\nQuestion: " + rivers} {
			resp, _, err := r.Substitute(t.Context(), request(task, text, ""))
			if err != nil || len(resp.Tokens) == 0 {
				t.Fatalf("%v, %v", resp, err)
			}
			var joined string
			for _, token := range resp.Tokens {
				joined += token.Text
				if math.Abs(math.Exp(token.LogProb)-want) > 1e-9 {
					t.Errorf("%s, %s: %q has probability %v, want %v", name, task, token.Text,
						math.Exp(token.LogProb), want)
				}
			}
			if joined != resp.Text {
				t.Errorf("%s: tokens %q of %q", task, joined, resp.Text)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	const n = 2000
	many := make([]dataset.Question, n)
	for i := range many {
		many[i] = dataset.Question{ID: fmt.Sprint(i), Question: fmt.Sprintf("question %d", i),
			Answers: []string{"Orla"}}
	}
	// errors returns which questions are judged wrong.
	errors := func(seed int64, task, text string) (wrong [n]bool, total int) {
		r, err := reader.Parse("oracle:0.2")
		if err != nil {
			t.Fatal(err)
		}
		r.Learn(many, seed)
		for i, q := range many {
			resp, _, err := r.Substitute(context.Background(), request(task, "Question: "+q.Question+"\n"+text, ""))
			if err != nil {
				t.Fatal(err)
			}
			if resp.Text != "yes" && resp.Text != "{Orla}" {
				wrong[i] = true
				total++
			}
		}
		return wrong, total
	}
	const verdict = `Is "Orla" a right answer? yes or no`
	first, total := errors(1, "evaluate-answer", verdict)
	if math.Abs(float64(total)/n-.2) > .03 {
		t.Errorf("%d of %d calls err, want a fifth", total, n)
	}
	for _, c := range []struct {
		name, task, text string
		seed             int64
		same             bool
	}{
		{"the same calls err again, whatever else they show", "evaluate-answer", "Path: A -> b -> Orla\n" + verdict, 1,
			true},
		{"other calls err by another seed", "evaluate-answer", verdict, 2, false},
		{"other calls err of another task", "candidate-answers", "A -> b: Orla; Harn", 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			again, total := errors(c.seed, c.task, c.text)
			if (again == first) != c.same || total < n/6 || total > n/4 {
				t.Errorf("%d calls err, the same ones: %v", total, again == first)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"oracle": "oracle", "oracle:0": "oracle", "oracle:0.20": "oracle:0.2",
		"oracle:1": "oracle:1"} {
		if r, err := reader.Parse(name); err != nil || r.Name() != want {
			t.Errorf("%q is %v, %v", name, r, err)
		}
	}
	for _, name := range []string{"", "model", "oracle:", "oracle:x", "oracle:-1", "oracle:1.1", "oracle:NaN"} {
		if _, err := reader.Parse(name); err == nil || !strings.Contains(err.Error(), "oracle:0.2") {
			t.Errorf("%q is taken, %v", name, err)
		}
	}
}
