package generator_test

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/generator"
)

func serve(t *testing.T, model *testkit.LLM) generatorv1.GeneratorServiceClient {
	t.Helper()
	s := testkit.Serve(t, func(ctx context.Context, l net.Listener) error {
		cfg := generator.DefaultConfig()
		cfg.Server.Listener, cfg.Telemetry.LogWriter, cfg.LLM = l, t.Output(), model.Config()
		return generator.Run(ctx, cfg)
	})
	return generatorv1.NewGeneratorServiceClient(s.Conn)
}

func walks(ends ...string) (out []*graphv1.ReasoningPath) {
	for _, end := range ends {
		out = append(out, &graphv1.ReasoningPath{Entities: []string{"Velmora", end},
			Steps: []*graphv1.RelationStep{{Relation: "river"}}})
	}
	return out
}

func relations(names ...string) (out []*graphv1.RelationPath) {
	for _, n := range names {
		out = append(out, &graphv1.RelationPath{Steps: []*graphv1.RelationStep{{Relation: n}}})
	}
	return out
}

func TestEachCall(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On(testkit.Task("pseudo-graph")).Reply(
		`CREATE (:City {name: "Velmora"})-[:RIVER]->(:River {name: "Tessen"})`).Usage(30, 20)
	model.On(testkit.Task("relation-paths")).Reply("flows through\nriver -> name\nx\ny")
	model.On(testkit.Task("relation-paths"), testkit.SchemaNamed("paths")).ReplyJSON(map[string]any{"paths": []int{2}})
	model.On(testkit.Task("candidate-answers")).Reply("{Tessen}")
	model.On(testkit.Task("answer")).Reply("On the {Tessen}.")
	client := serve(t, model)

	graph, err := client.GeneratePseudoGraph(t.Context(),
		&generatorv1.GeneratePseudoGraphRequest{Question: "what rivers"})
	if err != nil || len(graph.GetPseudoGraph().GetTriples()) != 1 || graph.GetCypher() == "" {
		t.Errorf("got %v, %v", graph, err)
	}
	if u := graph.GetUsage(); u.GetCalls() != 1 || u.GetPromptTokens() != 30 || u.GetCompletionTokens() != 20 {
		t.Errorf("usage %v", u)
	}
	proposed, err := client.GenerateRelationPaths(t.Context(),
		&generatorv1.GenerateRelationPathsRequest{Question: "what rivers", TopicEntities: []string{"Velmora"}})
	if err != nil || len(proposed.GetPaths()) != 3 || proposed.GetUsage().GetCalls() != 1 {
		t.Errorf("got %v, %v; want the configured 3 paths", proposed, err)
	}
	chosen, err := client.GenerateRelationPaths(t.Context(),
		&generatorv1.GenerateRelationPathsRequest{Question: "what rivers", Existing: relations("a", "b"), MaxPaths: 1})
	if err != nil || len(chosen.GetPaths()) != 1 || chosen.GetPaths()[0].GetSteps()[0].GetRelation() != "b" {
		t.Errorf("got %v, %v", chosen, err)
	}
	read, err := client.GenerateCandidateAnswers(t.Context(),
		&generatorv1.GenerateCandidateAnswersRequest{Question: "what rivers", Paths: walks("Orla", "Tessen")})
	if err != nil || len(read.GetCandidates()) != 1 || read.GetCandidates()[0].GetAnswer() != "Tessen" {
		t.Errorf("got %v, %v", read, err)
	}
	again, err := client.GenerateCandidateAnswers(t.Context(), &generatorv1.GenerateCandidateAnswersRequest{
		Question: "what rivers", Paths: walks("Orla", "Tessen"),
		Feedback: &generatorv1.Feedback{Answers: []*graphv1.AnswerVerdict{{Answer: "Orla"}}},
	})
	if err != nil || len(again.GetCandidates()) != 1 {
		t.Errorf("got %v, %v", again, err)
	}
	asked := model.Requests()
	if last := asked[len(asked)-1].Messages; !strings.Contains(last[len(last)-1].Content, "Orla (wrong)") {
		t.Errorf("the verdict is not in %v", last)
	}
	answered, err := client.GenerateAnswer(t.Context(), &generatorv1.GenerateAnswerRequest{Question: "what rivers"})
	if err != nil || !slices.Equal(answered.GetAnswers(), []string{"Tessen"}) ||
		answered.GetText() != "On the {Tessen}." {
		t.Errorf("got %v, %v", answered, err)
	}
}

// A call that fails after the model was paid reports what was spent, so that budgets and quotas hold.
func TestFailedCallsReportWhatWasSpent(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On().Reply("?").Usage(40, 8).Disconnect() // the text fits no schema; the second attempt fails
	client := serve(t, model)
	_, err := client.GenerateRelationPaths(t.Context(),
		&generatorv1.GenerateRelationPathsRequest{Question: "what rivers", Existing: relations("a", "b")})
	if status.Code(err) != codes.Unavailable {
		t.Fatalf("got %v, want UNAVAILABLE", err)
	}
	// The server took the calls that it did not answer, too.
	took := len(model.Requests())
	if u := llm.AttachedUsage(err); took < 2 || int(u.GetCalls()) != took || u.GetPromptTokens() <= 40 {
		t.Errorf("the error reports %v, want %d calls of more than the 40 prompt tokens of the first", u, took)
	}
}

// listen takes a stream to its end.
func listen(t *testing.T, client generatorv1.GeneratorServiceClient,
	question string) (deltas []string, answers []*generatorv1.GenerateAnswerResponse, err error) {
	t.Helper()
	return listenTo(t.Context(), t, client, question)
}

func listenTo(ctx context.Context, t *testing.T, client generatorv1.GeneratorServiceClient,
	question string) (deltas []string, answers []*generatorv1.GenerateAnswerResponse, err error) {
	t.Helper()
	stream, err := client.GenerateAnswerStream(ctx,
		&generatorv1.GenerateAnswerStreamRequest{Request: &generatorv1.GenerateAnswerRequest{Question: question}})
	if err != nil {
		return nil, nil, err
	}
	for {
		event, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return deltas, answers, nil
		case err != nil:
			return deltas, answers, err
		case event.GetAnswer() != nil:
			answers = append(answers, event.GetAnswer())
		case len(answers) > 0:
			t.Error("a delta came after the answer")
		default:
			deltas = append(deltas, event.GetDelta())
		}
	}
}

func TestAnswerStream(t *testing.T) {
	for _, c := range []struct {
		name   string
		script func(*testkit.Rule)
		deltas []string
		text   string
		warned string
		code   codes.Code
	}{
		{"deltas arrive as they are written, then the whole answer",
			func(r *testkit.Rule) { r.Reply("On {Tessen}").Pieces("On ", "{Tes", "sen}") },
			[]string{"On ", "{Tes", "sen}"}, "On {Tessen}", "", codes.OK},
		{"what came of a stream that broke off is the answer, with a warning",
			func(r *testkit.Rule) { r.CutStream("On {Tessen}", " and") },
			[]string{"On {Tessen}", " and"}, "On {Tessen} and", llm.WarnTruncated, codes.OK},
		{"a model that is down ends the stream", func(r *testkit.Rule) { r.Disconnect() }, nil, "", "",
			codes.Unavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			model := testkit.NewLLM(t)
			c.script(model.On())
			deltas, answers, err := listen(t, serve(t, model), "what rivers")
			if status.Code(err) != c.code || !slices.Equal(deltas, c.deltas) {
				t.Fatalf("got %q, %v; want %q, %v", deltas, err, c.deltas, c.code)
			}
			if err != nil {
				return
			}
			if len(answers) != 1 || answers[0].GetText() != c.text || !slices.Equal(answers[0].GetAnswers(),
				[]string{"Tessen"}) {
				t.Errorf("got %v", answers)
			}
			warned := ""
			for _, w := range answers[0].GetWarnings() {
				warned += w.GetCode()
			}
			if warned != c.warned {
				t.Errorf("warned of %q, want %q", warned, c.warned)
			}
		})
	}
}

// However the answer is sent, it says how sure the model was and which form it
// took.
func TestAnswersAreTheSameStreamedAndWhole(t *testing.T) {
	for _, c := range []struct {
		name, question string
		tokens         []llm.Token
		text           string
		answers        []string
		probability    float64
		form           graphv1.AnswerForm
	}{
		{"entities, by the tokens in braces", "what rivers",
			[]llm.Token{{Text: "On {", LogProb: -1}, {Text: "Tes", LogProb: math.Log(.9)},
				{Text: "sen", LogProb: math.Log(.4)}, {Text: "}", LogProb: -2}},
			"On {Tessen}", []string{"Tessen"}, .6, graphv1.AnswerForm_ANSWER_FORM_ENTITIES},
		{"a text, by all of its tokens", "Tell me about the Tessen.",
			[]llm.Token{{Text: "A ", LogProb: math.Log(.81)}, {Text: "river.", LogProb: 0}},
			"A river.", nil, .9, graphv1.AnswerForm_ANSWER_FORM_TEXT},
	} {
		t.Run(c.name, func(t *testing.T) {
			var whole string
			var pieces []string
			for _, token := range c.tokens {
				whole += token.Text
				pieces = append(pieces, token.Text)
			}
			model := testkit.NewLLM(t)
			model.On().Reply(whole).Pieces(pieces...).LogProbs(c.tokens...)
			client := serve(t, model)
			plain, err := client.GenerateAnswer(t.Context(), &generatorv1.GenerateAnswerRequest{Question: c.question})
			if err != nil {
				t.Fatal(err)
			}
			deltas, answers, err := listen(t, client, c.question)
			if err != nil || len(answers) != 1 || !slices.Equal(deltas, pieces) {
				t.Fatalf("got %q, %d answers, %v", deltas, len(answers), err)
			}
			for _, got := range []*generatorv1.GenerateAnswerResponse{plain, answers[0]} {
				if got.Probability == nil || math.Abs(float64(got.GetProbability())-c.probability) > 1e-6 {
					t.Errorf("the probability is %v, want %v", got.Probability, c.probability)
				}
				if got.GetText() != c.text || got.GetForm() != c.form || !slices.Equal(got.GetAnswers(), c.answers) ||
					len(got.GetWarnings()) > 0 {
					t.Errorf("got %v", got)
				}
			}
		})
	}
}

func TestTheModelServerMisbehaves(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On(testkit.Task("pseudo-graph")).Reply(`CREATE (:City {name: "Velmora"})-[:RIVER]->(:River {name: "Tessen"})`)
	model.On(testkit.Task("relation-paths")).Reply("flows through\nriver -> name")
	model.On(testkit.Task("relation-paths"), testkit.SchemaNamed("paths")).ReplyJSON(map[string]any{"paths": []int{2}})
	model.On(testkit.Task("candidate-answers")).Reply("{Orla}")
	model.On(testkit.Task("answer")).Reply("On the {Tessen}.")
	model.On(testkit.Task("answer"),
		testkit.Contains("Tell me")).Reply("Velmora is a city on the Tessen. It has a mayor.")
	model.On(testkit.Task("claims")).Reply("Velmora | river | Tessen")
	model.On(testkit.Task("rewrite-question")).Reply("When was Erik Halvorsen born?")
	model.On(testkit.Task("relation-words")).Reply("stream; waters")
	client := serve(t, model)
	stream := func(ctx context.Context, question string) (testkit.Warned, error) {
		_, answers, err := listenTo(ctx, t, client, question)
		if err != nil {
			return (*generatorv1.GenerateAnswerResponse)(nil), err
		}
		return answers[0], nil
	}
	for name, call := range map[string]func(context.Context) (testkit.Warned, error){
		"pseudo-graph": func(ctx context.Context) (testkit.Warned, error) {
			return client.GeneratePseudoGraph(ctx, &generatorv1.GeneratePseudoGraphRequest{Question: "q"})
		},
		"relation paths, chosen": func(ctx context.Context) (testkit.Warned, error) {
			return client.GenerateRelationPaths(ctx, &generatorv1.GenerateRelationPathsRequest{Question: "q",
				Existing: relations("a", "b")})
		},
		"relation paths, proposed": func(ctx context.Context) (testkit.Warned, error) {
			return client.GenerateRelationPaths(ctx, &generatorv1.GenerateRelationPathsRequest{Question: "q"})
		},
		"candidates": func(ctx context.Context) (testkit.Warned, error) {
			return client.GenerateCandidateAnswers(ctx, &generatorv1.GenerateCandidateAnswersRequest{Question: "q",
				Paths: walks("Orla")})
		},
		"candidates again": func(ctx context.Context) (testkit.Warned, error) {
			return client.GenerateCandidateAnswers(ctx, &generatorv1.GenerateCandidateAnswersRequest{
				Question: "q", Paths: walks("Orla", "Tessen"),
				Feedback: &generatorv1.Feedback{Answers: []*graphv1.AnswerVerdict{{Answer: "Tessen"}}},
			})
		},
		"answer": func(ctx context.Context) (testkit.Warned, error) {
			return client.GenerateAnswer(ctx, &generatorv1.GenerateAnswerRequest{Question: "q"})
		},
		"answer, as a text": func(ctx context.Context) (testkit.Warned, error) {
			return client.GenerateAnswer(ctx, &generatorv1.GenerateAnswerRequest{Question: "Tell me about Velmora."})
		},
		"answer, streamed": func(ctx context.Context) (testkit.Warned, error) { return stream(ctx, "q") },
		"answer, as a text, streamed": func(ctx context.Context) (testkit.Warned,
			error) {
			return stream(ctx, "Tell me about Velmora.")
		},
		"claims": func(ctx context.Context) (testkit.Warned, error) {
			return client.ExtractClaims(ctx, &generatorv1.ExtractClaimsRequest{Text: "Velmora lies on the Tessen."})
		},
		"a question that follows another": func(ctx context.Context) (testkit.Warned, error) {
			return client.RewriteQuestion(ctx, &generatorv1.RewriteQuestionRequest{Question: "And when was he born?",
				History: []*generatorv1.Turn{
					{Role: generatorv1.Role_ROLE_USER, Text: "Who directed The Quiet Harbour?"},
					{Role: generatorv1.Role_ROLE_ASSISTANT, Text: "{Erik Halvorsen}"},
				}})
		},
		"words of a relation": func(ctx context.Context) (testkit.Warned, error) {
			return client.GenerateRelationWords(ctx, &generatorv1.GenerateRelationWordsRequest{
				Examples: []*graphv1.Triple{{Subject: "Velmora", Relation: "river", Object: "Tessen"}}})
		},
	} {
		t.Run(name, func(t *testing.T) { model.Misbehave(t, call) })
	}
}

func TestQuestionsThatCannotBe(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On().Reply("{x}")
	client := serve(t, model)
	for _, c := range []struct {
		name, question string
		code           codes.Code
	}{
		{"an empty one", "", codes.InvalidArgument},
		{"one of 100 kB", strings.Repeat("a", 100_000), codes.InvalidArgument},
		{"one of 1 byte is a question", "?", codes.OK},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := client.GenerateAnswer(t.Context(),
				&generatorv1.GenerateAnswerRequest{Question: c.question}); status.Code(err) != c.code {
				t.Errorf("got %v, want %v", err, c.code)
			}
		})
	}
}

func TestAPlanThatIsWrittenAlreadyNeedsNoModel(t *testing.T) {
	model := testkit.NewLLM(t)
	client := serve(t, model)
	for _, c := range []struct {
		name, draft, want string
		code              codes.Code
	}{
		{"a chain", `Film(directed_by="Mara Vell").count()`,
			"?film type → film; ?film directed by → Mara Vell; count ?film",
			codes.OK},
		{"Cypher", `MATCH (f)-[:DIRECTED_BY]->({name: "Mara Vell"}) RETURN count(f)`,
			"?f directed by → Mara Vell; count ?f", codes.OK},
		{"prose", "the films of Mara Vell", "no chain such as", codes.InvalidArgument},
		{"Cypher with an error", "MATCH (f RETURN f", "cypher 1:10", codes.InvalidArgument},
		{"Cypher that writes", "MATCH (f) DETACH DELETE f RETURN 1", "not MATCH, WITH or RETURN",
			codes.InvalidArgument},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, err := client.GenerateQueryPlan(t.Context(), &generatorv1.GenerateQueryPlanRequest{
				Question: "how many films did mara vell direct", Draft: c.draft})
			got := status.Convert(err).Message()
			if err == nil {
				got = strings.Join(kgtext.DescribePlan(resp.GetPlan()), "; ")
			}
			if status.Code(err) != c.code || !strings.Contains(got, c.want) || len(resp.GetEdits()) > 0 {
				t.Errorf("got %q, %v, edits %v; want %q, %v", got, err, resp.GetEdits(), c.want, c.code)
			}
		})
	}
	if n := len(model.Requests()); n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

func TestAPlanByASchemaKeepsItsNames(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On(testkit.Task("query-plan")).Reply("Here it is:\n```cypher\nMATCH (f)-[:`film.Directed_By`]->(p) " +
		"WHERE p.name = \"Mara Vell\" RETURN f.name\n```\nThis lists the films.")
	client := serve(t, model)
	resp, err := client.GenerateQueryPlan(t.Context(), &generatorv1.GenerateQueryPlanRequest{
		Question: "films of mara vell", Schema: []string{"(\"Low Tide\")-[:`film.Directed_By`]->(\"Mara Vell\")"}})
	want := "?f film.Directed_By → ?p; ?p is Mara Vell; ?f"
	if got := strings.Join(kgtext.DescribePlan(resp.GetPlan()), "; "); err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	model.On(testkit.Task("query-plan")).Reply("I cannot say.")
	resp, err = client.GenerateQueryPlan(t.Context(), &generatorv1.GenerateQueryPlanRequest{Question: "other films",
		Schema: []string{"(\"a\")-[:`b`]->(\"c\")"}})
	if err != nil || len(resp.GetPlan().GetClauses()) > 0 || len(resp.GetWarnings()) == 0 {
		t.Errorf("prose is read as %v, %v", resp, err)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*generator.Config)
		valid  bool
	}{
		{"the default is a setting", func(*generator.Config) {}, true},
		{"no ends to show are none", func(c *generator.Config) { c.Candidates.MaxEnds = 0 }, false},
		{"no facts to tell are none", func(c *generator.Config) { c.Answer.TextFacts = 0 }, false},
		{"more facts at least than at most are none", func(c *generator.Config) { c.PseudoGraph.MinFacts = 5 }, false},
		{"no tokens to plan with are none", func(c *generator.Config) { c.RelationPaths.ChooseTokens = 0 }, false},
		{"a planner in an unknown format is none", func(c *generator.Config) { c.RelationPaths.Format = "json" },
			false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := generator.DefaultConfig()
			c.change(&cfg)
			if err := cfg.Validate(); (err == nil) != c.valid {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRewriteQuestion(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On(testkit.Task("rewrite-question"), testkit.Contains("Answer: Erik Halvorsen")).Reply(
		"When was Erik Halvorsen born?").Usage(40, 8)
	client := serve(t, model)
	history := []*generatorv1.Turn{
		{Role: generatorv1.Role_ROLE_USER, Text: "Who directed The Quiet Harbour?"},
		{Role: generatorv1.Role_ROLE_ASSISTANT, Text: "{Erik Halvorsen}"},
	}
	got, err := client.RewriteQuestion(t.Context(),
		&generatorv1.RewriteQuestionRequest{Question: "And when was he born?", History: history})
	if err != nil || got.GetQuestion() != "When was Erik Halvorsen born?" || !got.GetChanged() ||
		got.GetUsage().GetPromptTokens() != 40 {
		t.Errorf("got %v, %v", got, err)
	}
	got, err = client.RewriteQuestion(t.Context(),
		&generatorv1.RewriteQuestionRequest{Question: "Who wrote The Glass Orchard?", History: history})
	if err != nil || got.GetQuestion() != "Who wrote The Glass Orchard?" || got.GetChanged() ||
		got.GetUsage().GetCalls() != 0 {
		t.Errorf("got %v, %v; want the question as it was, by no model", got, err)
	}
	model.On(testkit.Task("rewrite-question")).Disconnect()
	for name, c := range map[string]struct {
		req  *generatorv1.RewriteQuestionRequest
		code codes.Code
	}{
		"a model that is down": {&generatorv1.RewriteQuestionRequest{Question: "and he?", History: history},
			codes.Unavailable},
		"a turn that nobody said": {&generatorv1.RewriteQuestionRequest{Question: "and he?",
			History: []*generatorv1.Turn{{Text: "x"}}}, codes.InvalidArgument},
		"a turn without words": {&generatorv1.RewriteQuestionRequest{Question: "and he?",
			History: []*generatorv1.Turn{{Role: generatorv1.Role_ROLE_USER}}}, codes.InvalidArgument},
		"an endless conversation": {&generatorv1.RewriteQuestionRequest{Question: "and he?",
			History: slices.Repeat(history, 40)}, codes.InvalidArgument},
		"a question of nothing": {&generatorv1.RewriteQuestionRequest{History: history}, codes.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := client.RewriteQuestion(t.Context(), c.req); status.Code(err) != c.code {
				t.Errorf("got %v, want %v", err, c.code)
			}
		})
	}
}

func TestGenerateRelationWords(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On(testkit.Task("relation-words"), testkit.Contains("Velmora | river | Tessen")).Reply(
		"stream; Tessen; waters").Usage(40, 8)
	client := serve(t, model)
	examples := []*graphv1.Triple{{Subject: "Velmora", Relation: "river", Object: "Tessen"}}
	got, err := client.GenerateRelationWords(t.Context(),
		&generatorv1.GenerateRelationWordsRequest{Examples: examples})
	if err != nil || !slices.Equal(got.GetWords(), []string{"stream", "waters"}) ||
		got.GetUsage().GetPromptTokens() != 40 {
		t.Errorf("got %v, %v", got, err)
	}
	model.On(testkit.Task("relation-words")).Disconnect()
	for name, c := range map[string]struct {
		req  *generatorv1.GenerateRelationWordsRequest
		code codes.Code
	}{
		"a model that is down": {&generatorv1.GenerateRelationWordsRequest{Examples: examples}, codes.Unavailable},
		"no example":           {&generatorv1.GenerateRelationWordsRequest{}, codes.InvalidArgument},
		"an example without a relation": {&generatorv1.GenerateRelationWordsRequest{
			Examples: []*graphv1.Triple{{Subject: "Velmora", Object: "Tessen"}}}, codes.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := client.GenerateRelationWords(t.Context(), c.req); status.Code(err) != c.code {
				t.Errorf("got %v, want %v", err, c.code)
			}
		})
	}
}
