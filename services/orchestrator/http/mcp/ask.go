package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

const askDescription = `Answer a question in words from a knowledge graph, with the triples that the answer rests on.

Use it for whole questions about facts: who, what, where, when, which, how many. A language model behind it drafts
the facts that the question needs, the knowledge graph corrects them, and the answer is read off the result. It takes
seconds to minutes and spends model calls: if you can answer from facts yourself, search, neighbours and paths are
quicker.

The field grounding says what the answer rests on: "grounded" is triples of the knowledge graph, "partial" is both,
"related" is triples that name what the answer names but do not say it, "ungrounded" is the model's memory alone,
"abstained" is no answer.`

type askInput struct {
	Question      string   `json:"question" jsonschema:"the complete question: names, not pronouns"`
	KG            string   `json:"kg,omitempty"`
	OtherKGs      []string `json:"other_kgs,omitempty" jsonschema:"more knowledge graphs to read, written like kg"`
	Method        string   `json:"method,omitempty"`
	TopicEntities []string `json:"topic_entities,omitempty"`
	Plan          string   `json:"plan,omitempty"`
	At            string   `json:"at,omitempty" jsonschema:"ISO 8601 date, such as 2005: use only facts valid then"`
	AbstainBelow  float32  `json:"abstain_below,omitempty" jsonschema:"give no answer below this confidence, 0 to 1"`
	MaxModelCalls uint32   `json:"max_model_calls,omitempty" jsonschema:"most model calls; 0 sets no limit"`
}

type answer struct {
	Answer   string   `json:"answer" jsonschema:"an entity or a value"`
	ID       string   `json:"id,omitempty" jsonschema:"id of the entity, such as an IRI, unless that is its name"`
	Evidence []triple `json:"evidence" jsonschema:"the triples that name it; empty if there are none"`
}

type conflict struct {
	Subject  string   `json:"subject"`
	Relation string   `json:"relation"`
	Triples  []triple `json:"triples" jsonschema:"what each knowledge graph says"`
}

type usage struct {
	ModelCalls uint32 `json:"model_calls"`
	Tokens     uint64 `json:"tokens" jsonschema:"read and written"`
}

func usageOf(u *llmv1.Usage) usage {
	return usage{u.GetCalls(), u.GetPromptTokens() + u.GetCompletionTokens()}
}

type askOutput struct {
	Answers         []answer   `json:"answers" jsonschema:"best first"`
	Text            string     `json:"text" jsonschema:"the answer as a sentence"`
	Grounding       string     `json:"grounding" jsonschema:"grounded, partial, related, ungrounded or abstained"`
	GroundingReason string     `json:"grounding_reason" jsonschema:"why that is so"`
	Confidence      *float64   `json:"confidence,omitempty" jsonschema:"how likely the answers are right, 0 to 1"`
	Withheld        []string   `json:"withheld,omitempty" jsonschema:"answers held back: confidence too low"`
	Conflicts       []conflict `json:"conflicts,omitempty" jsonschema:"contradictions between knowledge graphs"`
	Warnings        []string   `json:"warnings,omitempty" jsonschema:"what failed and was skipped"`
	Partial         bool       `json:"partial,omitempty" jsonschema:"true if a limit or a failure ended the run"`
	Method          string     `json:"method"`
	KG              string     `json:"kg,omitempty" jsonschema:"the snapshot that was read"`
	RunID           string     `json:"run_id,omitempty" jsonschema:"read run://ID for every intermediate graph"`
	Usage           usage      `json:"usage"`
	Seconds         float64    `json:"seconds"`
}

func (d *handler) addAsk(s *sdk.Server) {
	add(s, d, sdk.Tool{Name: "ask", Title: "Ask a question", Description: askDescription}, d.ask)
}

func (d *handler) ask(ctx context.Context, req *sdk.CallToolRequest, in askInput) (askOutput, error) {
	kg, others, err := d.kgs(ctx, in.KG, in.OtherKGs)
	if err != nil {
		return askOutput{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	options := &orchestratorv1.AskOptions{AbstainBelow: in.AbstainBelow}
	if in.At != "" {
		options.Grounding = &retrieverv1.GroundingOptions{Filter: &retrieverv1.Filter{At: in.At}}
	}
	stream, err := d.orchestrator.AskStream(ctx, &orchestratorv1.AskStreamRequest{Request: &orchestratorv1.AskRequest{
		Question: in.Question, Method: in.Method, Kg: kg, OtherKgs: others, TopicEntities: in.TopicEntities,
		Plan: in.Plan, Options: options,
		Limits: &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: in.MaxModelCalls}},
	}})
	if err != nil {
		return askOutput{}, err
	}
	var run *orchestratorv1.Run
	stages := 0.0
	err = follow(newReporter(ctx, req), stream.Recv, func(e *orchestratorv1.AskStreamResponse) moment {
		switch e := e.GetEvent().(type) {
		case *orchestratorv1.AskStreamResponse_StageStarted:
			stages++
			return moment{message: doing(e.StageStarted.GetStage()), done: stages}
		case *orchestratorv1.AskStreamResponse_Run:
			run = e.Run
		}
		return moment{}
	})
	if err == nil && run == nil {
		err = advice("the mesh ended the answer before its end: ask again")
	}
	if err != nil {
		return askOutput{}, err
	}
	return newAskOutput(run), nil
}

func newAskOutput(run *orchestratorv1.Run) askOutput {
	out := askOutput{
		Answers: []answer{}, Text: run.GetText(), Grounding: config.EnumName(run.GetGrounding()),
		GroundingReason: run.GetGroundingReason(), Partial: run.GetPartial(), Method: run.GetMethod(),
		KG: kgtext.FormatKG(run.GetKg()), RunID: run.GetId(),
		Usage: usageOf(run.GetUsage()), Seconds: round(run.GetDuration().AsDuration().Seconds()),
	}
	for _, a := range run.GetAnswers() {
		out.Answers = append(out.Answers, answer{a.GetAnswer(), distinctID(a.GetId(), a.GetAnswer()),
			triplesOf(a.GetEvidence())})
	}
	if run.Confidence != nil {
		sure := round(run.GetConfidence())
		out.Confidence = &sure
	}
	for _, a := range run.GetWithheld() {
		out.Withheld = append(out.Withheld, a.GetAnswer())
	}
	for _, c := range run.GetConflicts() {
		out.Conflicts = append(out.Conflicts, conflict{c.GetSubject(), c.GetRelation(), triplesOf(c.GetTriples())})
	}
	out.Warnings = warningsOf(run.GetStages())
	return out
}

func warningsOf(stages []*orchestratorv1.StageReport) (all []string) {
	for _, s := range stages {
		for _, w := range s.GetWarnings() {
			all = append(all, w.GetMessage())
		}
	}
	return all
}

func (o askOutput) text() string {
	var p page
	if len(o.Answers) == 0 && o.Text == "" {
		p.line("No answer (%s: %s).", o.Grounding, clean(o.GroundingReason))
	} else {
		p.line("Answer (%s: %s):", o.Grounding, clean(o.GroundingReason))
		p.WriteString(quote(o.Text))
	}
	if o.Confidence != nil {
		p.line("Confidence: %v", *o.Confidence)
	}
	for _, a := range o.Answers {
		p.line("- %s", nameAndID(a.Answer, a.ID))
		for _, t := range a.Evidence {
			p.line("  evidence: %s", t)
		}
	}
	for _, a := range o.Withheld {
		p.line("Held back, too unsure: %s", name(a))
	}
	for _, c := range o.Conflicts {
		p.line("The knowledge graphs disagree on %s | %s:", name(c.Subject), name(c.Relation))
		for _, t := range c.Triples {
			p.line("  %s", t)
		}
	}
	for _, w := range o.Warnings {
		p.line("Warning: %s", clean(w))
	}
	if o.Partial {
		p.line("The run was ended early: ask again with a larger bound, or less at a time.")
	}
	from := ""
	if o.KG != "" {
		from = " over " + name(o.KG)
	}
	p.line("By %s%s, %s, %d tokens, %.1f s.", name(o.Method), from,
		kgtext.FormatCount(int(o.Usage.ModelCalls), "model call"), o.Usage.Tokens, o.Seconds)
	return p.String()
}

func (o askOutput) links() []sdk.Content {
	if o.RunID == "" {
		return nil
	}
	return []sdk.Content{&sdk.ResourceLink{
		URI: runURI(o.RunID), Name: "run " + o.RunID, MIMEType: "application/json",
		Description: "every graph on the way to this answer, with scores, edits and cost",
	}}
}

var doings = map[orchestratorv1.Stage]string{
	orchestratorv1.Stage_STAGE_PSEUDO_GRAPH:      "drafting the facts that the question needs",
	orchestratorv1.Stage_STAGE_GROUND_GRAPH:      "grounding the draft in the knowledge graph",
	orchestratorv1.Stage_STAGE_VERIFY:            "correcting the draft by what was found",
	orchestratorv1.Stage_STAGE_ANSWER:            "writing the answer",
	orchestratorv1.Stage_STAGE_LINK:              "finding the entities that are meant",
	orchestratorv1.Stage_STAGE_PATHS:             "planning and following relation paths",
	orchestratorv1.Stage_STAGE_CANDIDATES:        "reading candidate answers off the paths",
	orchestratorv1.Stage_STAGE_EVALUATE_QUESTION: "judging the candidates as a set",
	orchestratorv1.Stage_STAGE_EVALUATE_ANSWERS:  "judging the candidates one by one",
	orchestratorv1.Stage_STAGE_REFLECT:           "weighing the verdicts",
	orchestratorv1.Stage_STAGE_CLAIMS:            "reading claims off the text",
}

// doing is what happens in a stage, in words.
func doing(s orchestratorv1.Stage) string {
	if words := doings[s]; words != "" {
		return words
	}
	return fmt.Sprintf("stage %s", config.EnumName(s))
}

// indented is a value as JSON that people can read.
func indented(v any) (string, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	return string(data), err
}
