package verifier_test

import (
	"context"
	"fmt"
	"net"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/verifier"
)

const (
	alignMode   = verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN
	editsMode   = verifierv1.VerificationMode_VERIFICATION_MODE_EDITS
	rewriteMode = verifierv1.VerificationMode_VERIFICATION_MODE_REWRITE
)

// serve runs a verifier that asks model, changed from its defaults.
func serve(t *testing.T, model *testkit.LLM, change func(*verifier.Config)) verifierv1.VerifierServiceClient {
	t.Helper()
	s := testkit.Serve(t, func(ctx context.Context, l net.Listener) error {
		cfg := verifier.DefaultConfig()
		cfg.Server.Listener, cfg.Telemetry.LogWriter, cfg.LLM = l, t.Output(), model.Config()
		if change != nil {
			change(&cfg)
		}
		return verifier.Run(ctx, cfg)
	})
	return verifierv1.NewVerifierServiceClient(s.Conn)
}

func triple(s, r, o string) *graphv1.Triple {
	return &graphv1.Triple{Subject: s, Relation: r, Object: o}
}

// request is a draft with a wrong director, and evidence that knows the right
// one.
func request(mode verifierv1.VerificationMode) *verifierv1.VerifyRequest {
	return &verifierv1.VerifyRequest{
		Question: "who directed the quiet harbour",
		PseudoGraph: &graphv1.PseudoGraph{Triples: []*graphv1.Triple{triple("The Quiet Harbour", "director",
			"Lars Holm")}},
		GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{{Subject: "The Quiet Harbour",
			Confidence: .9, Triples: []*graphv1.ScoredTriple{
				{Triple: triple("The Quiet Harbour", "director", "Erik Halvorsen"), QuestionScore: .8,
					PseudoTripleScores: []float32{.9}},
				{Triple: triple("The Quiet Harbour", "genre", "drama"), QuestionScore: .2,
					PseudoTripleScores: []float32{.3}},
			}}}},
		Mode: mode,
	}
}

const edited = `{"edits":[{"draft":1,"action":"replace","evidence":1}],"add":[]}`

func TestEachMode(t *testing.T) {
	for _, c := range []struct {
		name       string
		configured string
		asked      verifierv1.VerificationMode
		reply      string
		used       verifierv1.VerificationMode
		calls      uint32
		warned     string
		triples    int
	}{
		{"align asks no model", "edits", alignMode, "", alignMode, 0, "", 2},
		{"edits point at evidence", "align", editsMode, edited, editsMode, 1, "", 1},
		{"rewrite writes afresh", "align", rewriteMode, "The Quiet Harbour | director | Erik Halvorsen",
			rewriteMode, 1, "", 1},
		{"the configuration says how where the caller does not", "rewrite", 0,
			"The Quiet Harbour | director | Erik Halvorsen", rewriteMode, 1, "", 1},
		{"edits that cannot be read leave the alignment", "align", editsMode, "I would replace it.", alignMode, 2,
			llm.WarnUnusable, 2},
		{"a rewriting that cannot be read leaves the alignment", "align", rewriteMode, "I would replace it.", alignMode,
			1, llm.WarnUnusable, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			model := testkit.NewLLM(t)
			if c.reply != "" {
				model.On(testkit.Task("verify")).Reply(c.reply)
			}
			resp, err := serve(t, model, func(cfg *verifier.Config) { cfg.Mode = c.configured }).Verify(t.Context(),
				request(c.asked))
			if err != nil {
				t.Fatal(err)
			}
			if resp.GetMode() != c.used || resp.GetUsage().GetCalls() != c.calls {
				t.Errorf("used %v with %d calls, want %v with %d", resp.GetMode(), resp.GetUsage().GetCalls(),
					c.used, c.calls)
			}
			if got := codesOf(resp.GetWarnings()); got != c.warned {
				t.Errorf("warned of %q, want %q", got, c.warned)
			}
			last := resp.GetFixedGraph().GetTriples()
			if len(last) != c.triples || last[len(last)-1].GetTriple().GetObject() != "Erik Halvorsen" {
				t.Errorf("fixed graph %v, want %d triples, the director last", last, c.triples)
			}
			if e := resp.GetEdits()[0]; e.GetKind() != graphv1.EditKind_EDIT_KIND_REPLACE || len(e.GetEvidence()) == 0 {
				t.Errorf("the draft's edit is %v, want a replacement with evidence", e)
			}
		})
	}
}

func TestATextIsGivenAllThatIsKnown(t *testing.T) {
	client := serve(t, testkit.NewLLM(t), func(cfg *verifier.Config) { cfg.Align.Added = 0 })
	for _, c := range []struct {
		name, question string
		form           graphv1.AnswerForm
		triples        int
	}{
		{"a question for entities is given what answers it", "who directed the quiet harbour", 0, 1},
		{"a question that asks to be told is given all", "Tell me about The Quiet Harbour.", 0, 2},
		{"so is one whose answer is to be a text", "who directed the quiet harbour",
			graphv1.AnswerForm_ANSWER_FORM_TEXT, 2},
		{"and not one whose answer is to be entities", "Tell me about The Quiet Harbour.",
			graphv1.AnswerForm_ANSWER_FORM_ENTITIES, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := request(alignMode)
			req.Question, req.Form = c.question, c.form
			resp, err := client.Verify(t.Context(), req)
			if n := len(resp.GetFixedGraph().GetTriples()); err != nil || n != c.triples {
				t.Errorf("the fixed graph has %d triples, %v; want %d", n, err, c.triples)
			}
		})
	}
}

func TestAStrongReaderIsShownAllEvidence(t *testing.T) {
	for reader, want := range map[string]int{llm.WeakReader: 1, llm.StrongReader: 2} {
		t.Run(reader, func(t *testing.T) {
			client := serve(t, testkit.NewLLM(t), func(cfg *verifier.Config) { cfg.LLM.Reader = reader })
			req := request(alignMode)
			req.Question = "who directed the quiet harbour"
			req.GroundGraph.Subjects = append(req.GroundGraph.Subjects, &graphv1.SubjectEvidence{Subject: "Elsewhere",
				Triples: []*graphv1.ScoredTriple{{Triple: &graphv1.Triple{Subject: "Elsewhere", Relation: "genre",
					Object: "drama"}}}})
			resp, err := client.Verify(t.Context(), req)
			elsewhere := 1
			for _, f := range resp.GetFixedGraph().GetTriples() {
				if f.GetTriple().GetSubject() == "Elsewhere" {
					elsewhere++
				}
			}
			if err != nil || elsewhere != want {
				t.Errorf("the fixed graph is %v, %v", resp.GetFixedGraph(), err)
			}
			if strong := resp.GetReadingShare() > 0.5; strong != (reader == llm.StrongReader) {
				t.Errorf("its readings are right with a probability of %g", resp.GetReadingShare())
			}
		})
	}
}

func codesOf(warnings []*llmv1.Warning) (all string) {
	for _, w := range warnings {
		all += w.GetCode()
	}
	return all
}

func TestWithNothingToAskAboutNoModelIsAsked(t *testing.T) {
	client := serve(t, testkit.NewLLM(t), nil)
	for _, c := range []struct {
		name string
		req  *verifierv1.VerifyRequest
		want int
	}{
		{"no evidence", &verifierv1.VerifyRequest{Question: "q", Mode: rewriteMode,
			PseudoGraph: request(0).GetPseudoGraph()}, 1},
		{"no draft", &verifierv1.VerifyRequest{Question: "q", Mode: editsMode,
			GroundGraph: request(0).GetGroundGraph()}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, err := client.Verify(t.Context(), c.req)
			if err != nil || resp.GetMode() != alignMode || len(resp.GetFixedGraph().GetTriples()) != c.want {
				t.Errorf("got %v, %v; want %d triples by alignment", resp, err, c.want)
			}
		})
	}
}

func TestABudgetThatIsSpentLeavesTheAlignment(t *testing.T) {
	for _, c := range []struct {
		name   string
		script func(*testkit.Rule)
		warned string
	}{
		{"by an answer that cannot be read", func(r *testkit.Rule) { r.Reply("prose").Usage(50, 50) },
			llm.WarnUnusable},
		{"by an answer that held nothing and counted", func(r *testkit.Rule) { r.EmptyChoices() }, llm.WarnBudget},
	} {
		t.Run(c.name, func(t *testing.T) {
			model := testkit.NewLLM(t)
			c.script(model.On())
			req := request(editsMode)
			req.Limits = &llmv1.Limits{Budget: &llmv1.Budget{MaxTokens: 1}}
			resp, err := serve(t, model, nil).Verify(t.Context(), req)
			if err != nil || resp.GetMode() != alignMode || resp.GetUsage().GetCalls() != 1 ||
				codesOf(resp.GetWarnings()) != c.warned {
				t.Errorf("got %v, %v; want the alignment after one call", resp, err)
			}
		})
	}
}

func TestRequestsThatCannotBe(t *testing.T) {
	client := serve(t, testkit.NewLLM(t), nil)
	long := make([]byte, 100_000)
	for i := range long {
		long[i] = 'a'
	}
	for _, c := range []struct {
		name   string
		change func(*verifierv1.VerifyRequest)
	}{
		{"no question", func(r *verifierv1.VerifyRequest) { r.Question = "" }},
		{"nothing to verify", func(r *verifierv1.VerifyRequest) { r.PseudoGraph, r.GroundGraph = nil, nil }},
		{"graphs without triples", func(r *verifierv1.VerifyRequest) {
			r.PseudoGraph, r.GroundGraph = &graphv1.PseudoGraph{}, &graphv1.GroundGraph{}
		}},
		{"a question of 100 kB", func(r *verifierv1.VerifyRequest) { r.Question = string(long) }},
		{"a mode that is none", func(r *verifierv1.VerifyRequest) { r.Mode = 9 }},
		{"evidence without a triple",
			func(r *verifierv1.VerifyRequest) { r.GroundGraph.Subjects[0].Triples[0].Triple = nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := request(alignMode)
			c.change(req)
			if _, err := client.Verify(t.Context(), req); status.Code(err) != codes.InvalidArgument {
				t.Errorf("got %v, want INVALID_ARGUMENT", err)
			}
		})
	}
}

func TestTheModelServerMisbehaves(t *testing.T) {
	for _, mode := range []verifierv1.VerificationMode{editsMode, rewriteMode} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			model := testkit.NewLLM(t)
			model.On().Reply(map[verifierv1.VerificationMode]string{editsMode: edited,
				rewriteMode: "The Quiet Harbour | director | Erik Halvorsen"}[mode])
			client := serve(t, model, nil)
			model.Misbehave(t, func(ctx context.Context) (testkit.Warned, error) {
				return client.Verify(ctx, request(mode))
			})
		})
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*verifier.Config)
		ok     bool
	}{
		{"the defaults are valid", func(*verifier.Config) {}, true},
		{"a mode that is none", func(c *verifier.Config) { c.Mode = "guess" }, false},
		{"no triples", func(c *verifier.Config) { c.Align.MaxTriples = 0 }, false},
		{"fewer than no additions", func(c *verifier.Config) { c.Align.Added = -2 }, false},
		{"no evidence shown", func(c *verifier.Config) { c.MaxEvidence = 0 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := verifier.DefaultConfig()
			c.change(&cfg)
			if err := cfg.Validate(); (err == nil) != c.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}
