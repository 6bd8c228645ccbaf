package show

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

func spo(s, r, o string) *graphv1.Triple {
	return &graphv1.Triple{Subject: s, Relation: r, Object: o}
}

func hit(score float32, t *graphv1.Triple) *graphv1.ScoredTriple {
	return &graphv1.ScoredTriple{Triple: t, Score: score}
}

func ms(n int64) *durationpb.Duration { return durationpb.New(time.Duration(n) * time.Millisecond) }

func pgakvRun() *orchestratorv1.Run {
	draft := spo("Robert Stam", "works at", "Google")
	other := spo("Robert Stam", "wrote", "Film Theory: An Introduction")
	fact := spo("Robert Stam", "employer", "New York University")
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	span := func(id, parent, service, name string, at, took int64, attributes map[string]string) *orchestratorv1.Span {
		return &orchestratorv1.Span{SpanId: id, ParentSpanId: parent, Service: service, Name: name,
			StartTime: timestamppb.New(start.Add(time.Duration(at) * time.Millisecond)), Duration: ms(took),
			Attributes: attributes}
	}
	return &orchestratorv1.Run{
		Id: "01JNA0000000000000000000AA", Question: "What institution employed Robert Stam?", Method: "pg-akv",
		Kg:              &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 1},
		Answers:         []*orchestratorv1.Answer{{Answer: "New York University", Evidence: []*graphv1.Triple{fact}}},
		Text:            "Robert Stam was employed by New York University.",
		Grounding:       orchestratorv1.Grounding_GROUNDING_GROUNDED,
		GroundingReason: "every answer stands in a triple of the knowledge graph",
		Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{
			Cypher: "CREATE (a:Person {name: 'Robert Stam'})\nCREATE (a)-[:WORKS_AT]->(b)\n",
			Diagnostics: []*generatorv1.CypherDiagnostic{{Line: 2, Column: 27,
				Message: "variable b was never declared; a node of that name was made"}},
			PseudoGraph: &graphv1.PseudoGraph{Triples: []*graphv1.Triple{draft, other}},
			Hits:        []*graphv1.ScoredTriple{hit(0.91, fact), hit(0.5, spo("Robert Stamm", "occupation", "actor"))},
			GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{{
				Subject: "Robert Stam", Confidence: 0.91, Hits: 1, Triples: []*graphv1.ScoredTriple{hit(0.91, fact)},
			}}},
			Dropped: []*graphv1.DroppedSubject{
				{Subject: "Robert Stamm", Confidence: 0.5, Hits: 1, Reason: graphv1.DropReason_DROP_REASON_CONFIDENCE},
				{Subject: "The Association for the Advancement of Names That Do Not Fit Any Line", Confidence: 0.44,
					Hits: 2, Reason: graphv1.DropReason_DROP_REASON_CANDIDATE_SELECTION},
			},
			Verification: verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN,
			Edits: []*graphv1.Edit{
				{Kind: graphv1.EditKind_EDIT_KIND_REPLACE, Before: draft, After: fact,
					Evidence: []*graphv1.ScoredTriple{hit(0.91, fact)}},
				{Kind: graphv1.EditKind_EDIT_KIND_KEEP, Before: other, After: other},
				{Kind: graphv1.EditKind_EDIT_KIND_ADD, After: spo("Robert Stam", "position held", "professor"),
					Evidence: []*graphv1.ScoredTriple{hit(0.6, spo("Robert Stam", "position held", "professor"))}},
				{Kind: graphv1.EditKind_EDIT_KIND_DELETE, Before: spo("Google", "is", "a company")},
			},
			FixedGraph: &graphv1.FixedGraph{Triples: []*graphv1.FixedTriple{
				{Triple: other, Status: graphv1.TripleStatus_TRIPLE_STATUS_UNVERIFIED},
				{Triple: &graphv1.Triple{Subject: "Robert Stam", Relation: "employer", Object: "New York University",
					Validity: &graphv1.ValidityInterval{Start: "1980"}},
					Status: graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED},
			}},
		}},
		Stages: []*orchestratorv1.StageReport{
			{Stage: orchestratorv1.Stage_STAGE_PSEUDO_GRAPH, Duration: ms(4210), Usage: &llmv1.Usage{Calls: 1,
				PromptTokens: 512, CompletionTokens: 61}},
			{Stage: orchestratorv1.Stage_STAGE_GROUND_GRAPH, Duration: ms(9)},
			{Stage: orchestratorv1.Stage_STAGE_ANSWER, Duration: ms(1250), Usage: &llmv1.Usage{CachedCalls: 1},
				Warnings: []*llmv1.Warning{{Code: "unusable_output",
					Message: "the model's first answer had no braces; asked again"}}},
		},
		Usage:   &llmv1.Usage{Calls: 1, CachedCalls: 1, PromptTokens: 512, CompletionTokens: 61, CostUsd: 0.0123},
		TraceId: "4bf92f3577b34da6a3ce929d0e0e4736", Duration: ms(5480),
		Spans: []*orchestratorv1.Span{
			span("1", "", "orchestrator", "triplemesh.orchestrator.v1.OrchestratorService/Ask", 0, 5480, nil),
			span("3", "1", "retriever", "GroundGraph", 4300, 9, nil),
			span("2", "1", "generator", "GeneratePseudoGraph", 1, 4209, nil),
			span("4", "2", "generator", "chat qwen2.5-coder-1.5b-instruct-q4_k_m", 2, 4200,
				map[string]string{"gen_ai.usage.input_tokens": "512", "gen_ai.usage.output_tokens": "61"}),
		},
	}
}

func gerRun() *orchestratorv1.Run {
	hop := func(r string, inverse bool) *graphv1.RelationStep {
		return &graphv1.RelationStep{Relation: r, Inverse: inverse}
	}
	walk := func(end string) *graphv1.ReasoningPath {
		return &graphv1.ReasoningPath{Entities: []string{"Douglas Adams", "The Hitchhiker's Guide to the Galaxy", end},
			Steps: []*graphv1.RelationStep{hop("author", true), hop("genre", false)}}
	}
	var many []*graphv1.ReasoningPath
	for range 15 {
		many = append(many, walk("comic science fiction"))
	}
	return &orchestratorv1.Run{
		Id: "01JNA0000000000000000000BB", Question: "What genre did Douglas Adams write?", Method: "ger", Partial: true,
		Kg:        &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 2},
		Answers:   []*orchestratorv1.Answer{{Answer: "comic science fiction"}, {Answer: "satire"}},
		Text:      "comic science fiction, satire",
		Grounding: orchestratorv1.Grounding_GROUNDING_PARTIAL, GroundingReason: "1 of 2 answers ends a reasoning path",
		Graphs: &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{
			TopicEntities: []*graphv1.EntityLink{
				{Entity: "Douglas Adams", Mention: "Douglas Adams", Match: graphv1.LinkMatch_LINK_MATCH_EXACT,
					Score: 0.98},
				{Entity: "England", Score: 1},
			},
			ProposedPaths: []*graphv1.RelationPath{{Steps: []*graphv1.RelationStep{hop("wrote", false),
				hop("has genre", false)}}},
			RelationPaths: []*graphv1.RelationPath{{Steps: walk("").GetSteps(), Score: proto.Float32(0.71),
				Ends: proto.Uint32(3)}},
			ReasoningPaths: many,
			Candidates: []*graphv1.CandidateAnswer{
				{Answer: "comic science fiction", Paths: many[:3]}, {Answer: "novel", Paths: many[:1]},
				{Answer: "radio"}, {Answer: "humour"}, {Answer: "essay"},
			},
			QuestionVerdict: &graphv1.QuestionVerdict{Incomplete: true, Reason: "satire is missing"},
			AnswerVerdicts: []*graphv1.AnswerVerdict{
				{Answer: "comic science fiction", Correct: true, Probability: proto.Float32(0.93)},
				{Answer: "novel", Probability: proto.Float32(0.12)},
				{Answer: "radio", Unknown: true}, {Answer: "humour", Correct: true}, {Answer: "essay"},
			},
			Reflections: []*reflectorv1.Reflection{
				{Answer: "comic science fiction", Decision: reflectorv1.Decision_DECISION_KEEP},
				{Answer: "novel", Decision: reflectorv1.Decision_DECISION_DROP},
				{Answer: "satire", Decision: reflectorv1.Decision_DECISION_ADD,
					Paths: []*graphv1.ReasoningPath{walk("satire")}},
			},
		}},
		Stages: []*orchestratorv1.StageReport{
			{Stage: orchestratorv1.Stage_STAGE_EVALUATE_QUESTION, Duration: ms(95000), Usage: &llmv1.Usage{Calls: 1,
				PromptTokens: 1024, CompletionTokens: 9},
				Warnings: []*llmv1.Warning{{Code: "budget_exhausted",
					Message: "the budget of 12 calls was spent; reflection went on with what there was"}}},
		},
		Usage: &llmv1.Usage{Calls: 12, PromptTokens: 9000, CompletionTokens: 120}, Duration: ms(95000),
	}
}

func ioRun() *orchestratorv1.Run {
	return &orchestratorv1.Run{
		Question: "Who wrote Hamlet?", Method: "io",
		Text:      "Let me think.\nHamlet was written by William Shakespeare.",
		Answers:   []*orchestratorv1.Answer{{Answer: "William Shakespeare"}},
		Grounding: orchestratorv1.Grounding_GROUNDING_UNGROUNDED, GroundingReason: "method io asks the model alone",
	}
}

func relatedRun() *orchestratorv1.Run {
	fact := spo("K2", "country", "Pakistan")
	return &orchestratorv1.Run{
		Question: "Is K2 in Nepal?", Method: "rag", Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 3},
		Text:            "No, as far as the knowledge graph lists it: K2 | country | Pakistan.",
		Answers:         []*orchestratorv1.Answer{{Answer: "No", Evidence: []*graphv1.Triple{fact}}},
		Grounding:       orchestratorv1.Grounding_GROUNDING_RELATED,
		GroundingReason: "the knowledge graph lists other values of country",
		Graphs: &orchestratorv1.Run_Rag{Rag: &orchestratorv1.RagGraphs{
			Hits: []*graphv1.ScoredTriple{hit(0.8, fact)}}},
	}
}

func abstainedRun() *orchestratorv1.Run {
	return &orchestratorv1.Run{
		Question: "?", Method: "pg-akv", Partial: true,
		Grounding:       orchestratorv1.Grounding_GROUNDING_ABSTAINED,
		GroundingReason: "the model server was not there and nothing was found",
	}
}
