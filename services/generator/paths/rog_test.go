package paths_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/generator/paths"
)

// relationNames shows paths by the names of their relations.
func relationNames(paths []*graphv1.RelationPath) (out []string) {
	for _, p := range paths {
		var names []string
		for _, s := range p.GetSteps() {
			names = append(names, s.GetRelation())
		}
		out = append(out, strings.Join(names, " + "))
	}
	return out
}

func TestParseRoG(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"a path", "<PATH> a.b.c <SEP> d.e.f </PATH>", []string{"a.b.c + d.e.f"}},
		{"one after another", "<PATH>a.b</PATH><PATH> c.d </PATH>", []string{"a.b", "c.d"}},
		{"on lines, with list marks before them", "1. <PATH> a.b </PATH>\n2. <PATH> c.d </PATH>",
			[]string{"a.b", "c.d"}},
		{"over several lines", "<PATH> a.b\n</PATH>", []string{"a.b"}},
		{"relations of the same words but other names are others", "<PATH> a.b.film </PATH><PATH> c.d.film </PATH>",
			[]string{"a.b.film", "c.d.film"}},
		{"underscores and capitals are kept", "<PATH> location.location.time_Zones </PATH>",
			[]string{"location.location.time_Zones"}},
		{"marks in any case and spacing", "< path >a.b<sep/>c.d</ Path >", []string{"a.b + c.d"}},
		{"a path that is not closed ends with its line", "<PATH> a.b <SEP> c.d\nThat is all.", []string{"a.b + c.d"}},
		{"a path that is not opened begins with its line", "a.b <SEP> c.d </PATH>", []string{"a.b + c.d"}},
		{"prose around paths is none", "The plan is <PATH> a.b </PATH> as I see it.\nGood luck!", []string{"a.b"}},
		{"what a server leaves of its template is none", "<s> <PATH> a.b </PATH></s><|eot_id|>", []string{"a.b"}},
		{"the same path twice counts once", "<PATH> a.b </PATH> <PATH> a.b </PATH>", []string{"a.b"}},
		{"empty hops lead nowhere", "<PATH> <SEP> a.b <SEP> </PATH><PATH> </PATH>", []string{"a.b"}},
		{"the limit holds", "<PATH>a</PATH><PATH>b</PATH><PATH>c</PATH><PATH>d</PATH>", []string{"a", "b", "c"}},
		{"a path longer than the contract carries is left out",
			"<PATH> a<SEP>b<SEP>c<SEP>d<SEP>e<SEP>f<SEP>g<SEP>h<SEP>i </PATH>", nil},
		{"prose within a path makes it none", "<PATH> " + strings.Repeat("so ", 60) + "<SEP> a.b </PATH>", nil},
		{"text without marks is read as words", "acted in -> director", []string{"acted in + director"}},
		{"nothing is no path", "<PATH></PATH>", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := relationNames(paths.ParseRoG(c.text, 3)); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// The plans of RoG's own planner, written as it writes them and read back.
func TestRecordedPlans(t *testing.T) {
	file, err := os.Open(testkit.SharedData(t, "freebase", "webqsp_rog_paths.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plans, questions := 0, json.NewDecoder(bufio.NewReader(file))
	for questions.More() {
		var q struct {
			ID    string
			Paths [][]string
		}
		if err := questions.Decode(&q); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		var want []string
		for _, relations := range q.Paths {
			text.WriteString("<PATH> " + strings.Join(relations, " <SEP> ") + " </PATH>\n")
			if len(relations) > 0 { // a plan of no step leads nowhere
				want = append(want, strings.Join(relations, " + "))
			}
		}
		plans += len(want)
		paths := paths.ParseRoG(text.String(), 64)
		if got := relationNames(paths); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", q.ID, got, want)
		}
		for _, p := range paths {
			if slices.ContainsFunc(p.GetSteps(), (*graphv1.RelationStep).GetInverse) {
				t.Errorf("%s: a plan tells no direction", q.ID)
			}
		}
	}
	if plans < 2000 {
		t.Errorf("read %d plans", plans)
	}
}

func FuzzParseRoG(f *testing.F) {
	for _, seed := range []string{"<PATH> a <SEP> b </PATH>", "<PATH> a\n<PATH>", "a</PATH>b<SEP>", "<sep>",
		"\xff<PATH>\x00", "a -> b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		paths := paths.ParseRoG(text, 5)
		if len(paths) > 5 {
			t.Fatalf("%d paths", len(paths))
		}
		for _, p := range paths {
			if n := len(p.GetSteps()); n < 1 || n > 8 {
				t.Fatalf("a path of %d hops from %q", n, text)
			}
			for _, s := range p.GetSteps() {
				if r := s.GetRelation(); r == "" || len(r) > 120 || strings.ContainsAny(r, "\n\x00\x01") ||
					!utf8.ValidString(r) {
					t.Fatalf("hop %q from %q", r, text)
				}
			}
		}
	})
}

// replies is a model that gives one reply after another and remembers how it
// was asked.
type replies struct {
	resps []llm.Response
	errs  []error
	asked []llm.Request
}

func (r *replies) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	i := len(r.asked)
	r.asked = append(r.asked, req)
	if i < len(r.errs) && r.errs[i] != nil {
		return llm.Response{}, r.errs[i]
	}
	return r.resps[min(i, len(r.resps)-1)], nil
}

func TestProposeByAFineTunedModel(t *testing.T) {
	text := func(texts ...string) (out []llm.Response) {
		for _, s := range texts {
			out = append(out, llm.Response{Text: s})
		}
		return out
	}
	for _, c := range []struct {
		name    string
		samples int
		model   replies
		want    []string
		calls   int
		warned  string
		err     error
	}{
		{"several paths of one answer", 1, replies{resps: text("<PATH> a.b </PATH>\n<PATH> c.d <SEP> e.f </PATH>")},
			[]string{"a.b", "c.d + e.f"}, 1, "", nil},
		{"one path of each sample", 3, replies{resps: text("<PATH> a.b </PATH>", "<PATH> c.d </PATH>")},
			[]string{"a.b", "c.d"}, 2, "", nil},
		{"samples that repeat themselves", 3, replies{resps: text("<PATH> a.b </PATH>")}, []string{"a.b"}, 3, "", nil},
		{"the path that was cut is left out", 1, replies{resps: []llm.Response{{Text: "<PATH> a.b </PATH> <PATH> c.",
			FinishReason: "length"}}}, []string{"a.b"}, 1, "", nil},
		{"a model that fails later leaves what there is", 3, replies{resps: text("<PATH> a.b </PATH>"),
			errs: []error{nil, llm.ErrBudget}}, []string{"a.b"}, 2, llm.WarnUnavailable, nil},
		{"a sample that cannot be used is passed over", 2, replies{resps: text("", "<PATH> c.d </PATH>"),
			errs: []error{llm.ErrUnusable}}, []string{"c.d"}, 2, "", nil},
		{"nothing usable is no plan", 1, replies{resps: text("I cannot say:")}, nil, 1, llm.WarnUnusable, nil},
		{"a model that fails at once is the caller's to settle", 2, replies{errs: []error{llm.ErrBudget}}, nil, 1, "",
			llm.ErrBudget},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := paths.DefaultConfig()
			cfg.Format, cfg.Samples = paths.FormatRoG, c.samples
			paths, warnings, err := paths.New(&c.model, cfg).Propose(t.Context(), "q", []string{"Anna"}, 2,
				llm.NewLedger(nil))
			if !errors.Is(err, c.err) || !slices.Equal(relationNames(paths), c.want) || len(c.model.asked) != c.calls {
				t.Errorf("got %q after %d calls, %v; want %q after %d", relationNames(paths), len(c.model.asked), err,
					c.want, c.calls)
			}
			warned := ""
			for _, w := range warnings {
				warned += w.GetCode()
			}
			if warned != c.warned {
				t.Errorf("warned of %q, want %q", warned, c.warned)
			}
			for i, req := range c.model.asked {
				if (i == 0) != (req.Temperature == 0) || req.Seed != int64(i) {
					t.Errorf("call %d was sampled at %v by seed %d", i, req.Temperature, req.Seed)
				}
			}
		})
	}
}

func TestTheInstructionIsConfigured(t *testing.T) {
	for _, c := range []struct{ name, instruction, question, want string }{
		{"question and entities stand where it says", "Entities: {entities}. Question: {question}?", "who",
			"Entities: Anna; Bo. Question: who?"},
		{"without a place for it the question comes last", "Find the path: ", "who", "Find the path: who"},
		{"a question cannot ask for the entities", "Find: {question}", "{entities} {question}",
			"Find: {entities} {question}"},
		{"a question keeps to its line", "Find: {question}", "who\n<|im_end|>", "Find: who < |im_end| >"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := paths.DefaultConfig()
			cfg.Format, cfg.Instruction = paths.FormatRoG, c.instruction
			messages, err := paths.New(nil, cfg).PlanMessages(c.question, []string{"Anna", "Bo"})
			if err != nil || len(messages) != 1 || messages[0].Role != llm.RoleUser || messages[0].Content != c.want {
				t.Errorf("got %q, %v; want %q", messages, err, c.want)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*paths.Config)
		valid  bool
	}{
		{"the default", func(*paths.Config) {}, true},
		{"a fine-tuned model", func(c *paths.Config) { c.Format = paths.FormatRoG }, true},
		{"a format that is none", func(c *paths.Config) { c.Format = "json" }, false},
		{"a fine-tuned model that is told nothing", func(c *paths.Config) {
			c.Format,
				c.Instruction = paths.FormatRoG, ""
		}, false},
		{"no sample", func(c *paths.Config) { c.Samples = 0 }, false},
		{"samples without end", func(c *paths.Config) { c.Samples = 1000 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := paths.DefaultConfig()
			c.change(&cfg)
			if err := cfg.Validate(); (err == nil) != c.valid {
				t.Errorf("got %v", err)
			}
		})
	}
}
