// Package reporttest writes results directories for tests: of questions that do
// not exist, by runs that look like real ones.
package reporttest

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// Manifest returns that of an evaluation of a method.
func Manifest(name, kg, method string) results.Manifest {
	m := results.Manifest{
		Format: results.Format, Version: "v1.2.3",
		Dataset: results.Dataset{Name: name, Path: name + ".jsonl", Format: "jsonl",
			SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(name))), Questions: 1000},
		KG: kg, Method: method, Seed: 1, Models: []string{"small-model"}, Leak: &results.Leak{Examples: 12},
	}
	if kg != "" {
		m.Snapshot, m.Encoder = 1, "all-MiniLM-L6-v2"
	}
	return m
}

// Question returns the i-th question: right is the answer "Answer i".
func Question(i int) dataset.Question {
	return dataset.Question{
		ID: fmt.Sprintf("q%05d", i), Question: fmt.Sprintf("Which thing is number %d?", i),
		Answers: []string{fmt.Sprintf("Answer %d", i)}, Kind: dataset.Set,
	}
}

// Write writes a results directory below root, under the name of its method, and
// names it.
func Write(t testing.TB, root string, m results.Manifest, lines ...results.Line) string {
	t.Helper()
	dir := filepath.Join(root, m.Dataset.Name+"-"+m.KG+"-"+m.Method)
	for _, option := range m.Options.List() {
		dir += "-" + option[1]
	}
	m.Asked = max(m.Asked, len(lines))
	journal, err := results.Resume(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if err := journal.Add(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Lines returns those of the first n questions, each with the run that makes says,
// or its error.
func Lines(n int, makes func(i int, q dataset.Question) (*orchestratorv1.Run, error)) []results.Line {
	lines := make([]results.Line, n)
	for i := range lines {
		q := Question(i)
		run, err := makes(i, q)
		hops := 1 + i%3
		lines[i] = results.NewLine(q, &hops, run, err)
	}
	return lines
}

// IO returns a run that answers from the model's own knowledge.
func IO(q dataset.Question, answer string) *orchestratorv1.Run {
	return finish(&orchestratorv1.Run{
		Question: q.Question, Method: "io", Text: "It is {" + answer + "}.",
		Answers:   []*orchestratorv1.Answer{{Answer: answer}},
		Grounding: orchestratorv1.Grounding_GROUNDING_UNGROUNDED,
	}, 1, orchestratorv1.Stage_STAGE_ANSWER)
}

// Depth says how far a right answer comes in PgAkv.
type Depth int

// The steps that keep it: each keeps what those before it keep.
const (
	InNothing Depth = iota
	InHits
	InGround
	InFixed
	InAnswer
)

// PgAkv returns a run of pg-akv in which the right answer comes so far, with so many
// hits. Its confidence rises with kept.
func PgAkv(q dataset.Question, kept Depth, hits int) *orchestratorv1.Run {
	right := func(at Depth) string {
		if kept >= at {
			return q.Answers[0]
		}
		return "Other thing"
	}
	fact := func(subject, object string) *graphv1.ScoredTriple {
		return &graphv1.ScoredTriple{Triple: &graphv1.Triple{Subject: subject, Relation: "is the same as",
			Object: object}, Score: 0.87654, PseudoTripleScores: []float32{0.81234, 0.51234}, QuestionScore: 0.61234}
	}
	g := &orchestratorv1.PgAkvGraphs{
		Cypher: `CREATE (:Thing {name: "Thing"})-[:SAME_AS]->(:Thing {name: "Draft"})`,
		PseudoGraph: &graphv1.PseudoGraph{Triples: []*graphv1.Triple{{Subject: "Thing", Relation: "same as",
			Object: "Draft"}}},
		Verification: verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN,
		GroundGraph: &graphv1.GroundGraph{Subjects: []*graphv1.SubjectEvidence{{Subject: "Thing", Confidence: 0.9,
			Hits: 1, Triples: []*graphv1.ScoredTriple{fact("Thing", right(InGround))}}}},
		Edits: []*graphv1.Edit{{
			Kind: graphv1.EditKind_EDIT_KIND_REPLACE, Before: &graphv1.Triple{Subject: "Thing", Relation: "same as",
				Object: "Draft"},
			After:    fact("Thing", right(InFixed)).GetTriple(),
			Evidence: []*graphv1.ScoredTriple{fact("Thing", right(InFixed))},
		}},
		FixedGraph: &graphv1.FixedGraph{Triples: []*graphv1.FixedTriple{{Triple: fact("Thing",
			right(InFixed)).GetTriple(), Status: graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED}}},
	}
	g.Hits = append(g.Hits, fact("Thing", right(InHits)))
	for i := 1; i < hits; i++ {
		g.Hits = append(g.Hits, fact(fmt.Sprintf("Neighbour %d of %s", i, q.ID), fmt.Sprintf("Object %d", i*7919%1000)))
		g.Dropped = append(g.Dropped, &graphv1.DroppedSubject{Subject: fmt.Sprintf("Neighbour %d of %s", i, q.ID),
			Confidence: 0.5, Hits: 1, Reason: graphv1.DropReason_DROP_REASON_CONFIDENCE})
	}
	return finish(&orchestratorv1.Run{
		Question: q.Question, Method: "pg-akv", Text: "It is {" + right(InAnswer) + "}.",
		Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 1},
		Answers: []*orchestratorv1.Answer{{Answer: right(InAnswer),
			Evidence: []*graphv1.Triple{fact("Thing", right(InAnswer)).GetTriple()}}},
		Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED, Confidence: new(0.1 + 0.2*float32(kept)),
		Graphs: &orchestratorv1.Run_PgAkv{PgAkv: g},
	}, 2, orchestratorv1.Stage_STAGE_PSEUDO_GRAPH, orchestratorv1.Stage_STAGE_GROUND_GRAPH,
		orchestratorv1.Stage_STAGE_VERIFY, orchestratorv1.Stage_STAGE_ANSWER)
}

// Ger returns a run of ger with these candidates and final answers; every name in
// ends ends a reasoning path.
func Ger(q dataset.Question, ends, candidates, answers []string) *orchestratorv1.Run {
	g := &orchestratorv1.GerGraphs{
		TopicEntities: []*graphv1.EntityLink{{Entity: "Thing", Mention: "thing",
			Match: graphv1.LinkMatch_LINK_MATCH_NORMALISED, Score: 0.9}},
		RelationPaths: []*graphv1.RelationPath{{Steps: []*graphv1.RelationStep{{Relation: "same as"}},
			Score: proto.Float32(0.8)}},
	}
	walk := func(end string) *graphv1.ReasoningPath {
		return &graphv1.ReasoningPath{Entities: []string{"Thing", end},
			Steps: []*graphv1.RelationStep{{Relation: "same as", Inverse: true}}, Score: proto.Float32(0.8)}
	}
	for _, end := range ends {
		g.ReasoningPaths = append(g.ReasoningPaths, walk(end))
	}
	for _, c := range candidates {
		g.Candidates = append(g.Candidates, &graphv1.CandidateAnswer{Answer: c,
			Paths: []*graphv1.ReasoningPath{walk(c)}})
	}
	run := &orchestratorv1.Run{Question: q.Question, Method: "ger", Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata",
		Snapshot: 1}, Graphs: &orchestratorv1.Run_Ger{Ger: g}}
	for _, a := range answers {
		run.Answers = append(run.Answers, &orchestratorv1.Answer{Answer: a})
	}
	return finish(run, 4, orchestratorv1.Stage_STAGE_LINK, orchestratorv1.Stage_STAGE_PATHS,
		orchestratorv1.Stage_STAGE_CANDIDATES, orchestratorv1.Stage_STAGE_REFLECT)
}

// finish gives a run its stages, the calls being shared out among them.
func finish(run *orchestratorv1.Run, calls uint32, stages ...orchestratorv1.Stage) *orchestratorv1.Run {
	run.Usage = &llmv1.Usage{Calls: calls, PromptTokens: 200 * uint64(calls), CompletionTokens: 10 * uint64(calls)}
	run.Duration = durationpb.New(time.Duration(calls) * time.Second)
	for _, stage := range stages {
		report := &orchestratorv1.StageReport{Stage: stage, Duration: durationpb.New(time.Second),
			Usage: &llmv1.Usage{}}
		if calls > 0 {
			report.Usage = &llmv1.Usage{Calls: 1, PromptTokens: 200, CompletionTokens: 10}
			calls--
		}
		run.Stages = append(run.Stages, report)
	}
	return run
}
