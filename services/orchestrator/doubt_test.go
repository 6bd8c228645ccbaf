package orchestrator

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// path is a reasoning path whose entities and relations alternate.
func path(score, leastHop float32, parts ...string) *graphv1.ReasoningPath {
	p := &graphv1.ReasoningPath{Score: proto.Float32(score), LeastHopScore: proto.Float32(leastHop)}
	for i, part := range parts {
		if i%2 == 0 {
			p.Entities = append(p.Entities, part)
		} else {
			p.Steps = append(p.Steps, &graphv1.RelationStep{Relation: part})
		}
	}
	return p
}

func TestAnswersOverAFactThatIsNotAskedForAreDoubted(t *testing.T) {
	stray := path(0.5, 0.2, "Anna Lind", "spouse", "Per Holm", "religion", "Lutheran")
	faith := func(score float32, end string) *graphv1.ReasoningPath {
		return path(score, 0.1, "Anna Lind", "faith", end)
	}
	older := path(0.5, 0, "Anna Lind", "spouse", "Per Holm", "religion", "Lutheran")
	older.LeastHopScore = nil
	for _, c := range []struct {
		name    string
		paths   []*graphv1.ReasoningPath
		doubted bool
	}{
		{"one fact, whatever its words", []*graphv1.ReasoningPath{faith(0.5, "Lutheran")}, false},
		{"two facts, of which the question says one", []*graphv1.ReasoningPath{stray}, true},
		{"two facts, both said", []*graphv1.ReasoningPath{path(0.5, 0.6, "Anna Lind", "spouse", "Per Holm", "religion",
			"Lutheran")}, false},
		{"a likelier path of one fact leads there too", []*graphv1.ReasoningPath{stray, faith(0.6, "Lutheran")}, false},
		{"the likelier path leads elsewhere", []*graphv1.ReasoningPath{stray, faith(0.6, "Quaker")}, true},
		{"one fact over a mediator", []*graphv1.ReasoningPath{path(0.5, 0.1, "Anna Lind", "marriage", "m.0abc",
			"spouse", "Lutheran")}, false},
		{"a retriever that does not know", []*graphv1.ReasoningPath{older}, false},
		{"no paths", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, run := range []*orchestratorv1.Run{
				{Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{ReasoningPaths: c.paths}}},
				{Graphs: &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{ReasoningPaths: c.paths}}},
			} {
				run.Answers = []*orchestratorv1.Answer{{Answer: "Lutheran"}}
				run.Grounding = orchestratorv1.Grounding_GROUNDING_GROUNDED
				doubtPath(run, "What religion does Anna Lind follow?")
				if doubted := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED; doubted != c.doubted ||
					doubted != strings.Contains(run.GetGroundingReason(), "Anna Lind -> spouse -> religion") {
					t.Errorf("%v: %q", run.GetGrounding(), run.GetGroundingReason())
				}
			}
		})
	}
	doubtPath(&orchestratorv1.Run{}, "What?") // no answer
}

// isWithheld reports whether the answers of a run say something else than was asked.
func isWithheld(run *orchestratorv1.Run) bool {
	return run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_ABSTAINED && len(run.GetAnswers()) == 0 &&
		len(run.GetWithheld()) > 0
}

// isDoubted reports whether they may, or do.
func isDoubted(run *orchestratorv1.Run) bool {
	return isWithheld(run) || run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED
}

func TestStepsThatTheQuestionDoesNotSpeakOfAreDoubtedAndWithheldIfTheConfidenceIsLow(t *testing.T) {
	paths := []*graphv1.ReasoningPath{path(0.5, 0.1, "Anna Lind", "spouse", "Per Holm", "place of birth", "Oslo")}
	for grounding, want := range map[orchestratorv1.Grounding]orchestratorv1.Grounding{
		orchestratorv1.Grounding_GROUNDING_GROUNDED:   orchestratorv1.Grounding_GROUNDING_RELATED,
		orchestratorv1.Grounding_GROUNDING_RELATED:    orchestratorv1.Grounding_GROUNDING_ABSTAINED,
		orchestratorv1.Grounding_GROUNDING_UNGROUNDED: orchestratorv1.Grounding_GROUNDING_UNGROUNDED,
	} {
		run := &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{{Answer: "Oslo"}}, Grounding: grounding,
			Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{ReasoningPaths: paths}}}
		if doubtPath(run, "Where was Anna Lind born?"); run.GetGrounding() != want {
			t.Errorf("%v became %v, want %v: %s", grounding, run.GetGrounding(), want, run.GetGroundingReason())
		}
	}
}

func TestLikelyAnswersAreWithheldOnlyWhereWordsAloneSpeakForThem(t *testing.T) {
	ranked := path(0.5, 0.6, "Anna Lind", "spouse", "Per Holm")
	ranked.Probability = proto.Float32(.5)
	facts := func(p *graphv1.ReasoningPath) *orchestratorv1.Run {
		return &orchestratorv1.Run{Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{
			ReasoningPaths: []*graphv1.ReasoningPath{p}}}}
	}
	for _, c := range []struct {
		name       string
		run        *orchestratorv1.Run
		confidence float32
		withheld   bool
	}{
		{"no ranker", facts(path(0.5, 0.6, "Anna Lind", "spouse", "Per Holm")), .9, true},
		{"a ranker, likely", facts(ranked), .9, false},
		{"a ranker, hardly", facts(ranked), .1, true},
		{"a plan, likely", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Query{}}, .7, false},
		{"a plan, hardly", &orchestratorv1.Run{Graphs: &orchestratorv1.Run_Query{}}, .1, true},
	} {
		c.run.Answers, c.run.Confidence = []*orchestratorv1.Answer{{Answer: "Per Holm"}}, &c.confidence
		c.run.Grounding = orchestratorv1.Grounding_GROUNDING_GROUNDED
		doubtNumber(c.run, "When was Anna Lind born?")
		if isWithheld(c.run) != c.withheld || !isDoubted(c.run) {
			t.Errorf("%s: %v: %s", c.name, c.run.GetGrounding(), c.run.GetGroundingReason())
		}
	}
}

func TestWhatRestsOnNoTripleIsNotWithheld(t *testing.T) {
	run := &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{{Answer: "Per Holm"}},
		Grounding: orchestratorv1.Grounding_GROUNDING_UNGROUNDED}
	doubtNumber(run, "When was Orla found?")
	if run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_UNGROUNDED || len(run.GetAnswers()) != 1 ||
		run.GetGroundingReason() == "" {
		t.Errorf("got %v", run)
	}
}

func TestAnswersOfAnotherRoleAreWithheld(t *testing.T) {
	run := &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{{Answer: "Per Holm"}},
		Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED,
		Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{ReasoningPaths: []*graphv1.ReasoningPath{
			path(0.5, 0.6, "Anna Lind", "spouse", "Per Holm")}}}}
	doubtPath(run, "Who is the husband of Anna Lind?")
	if run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_GROUNDED {
		t.Errorf("the husband: %v", run)
	}
	doubtPath(run, "Who is the father of Anna Lind?")
	if !isWithheld(run) || !strings.Contains(run.GetGroundingReason(), "is the spouse") {
		t.Errorf("the father: %v", run)
	}
}

func TestWithoutRankedPathsTheEvidenceIsThePath(t *testing.T) {
	for _, c := range []struct {
		question, relation, object string
		doubted                    bool
	}{
		{"Who manages Anna Lind?", "manager", "Per Holm", false},
		{"Who manages Anna Lind's manager?", "manager", "Per Holm", true},
		{"How deep is the Anna Lind?", "Length (km)", "1230", true},
		{"How long is the Anna Lind?", "Length (km)", "1230", false},
		{"How deep is it?", "Length (km)", "1230", false}, // nothing is named
	} {
		run := &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{{Answer: c.object,
			Evidence: []*graphv1.Triple{{Subject: "Anna Lind", Relation: c.relation, Object: c.object}}}},
			Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED}
		doubtPath(run, c.question)
		if isDoubted(run) != c.doubted {
			t.Errorf("%s: %v %q", c.question, run.GetGrounding(), run.GetGroundingReason())
		}
	}
}

func TestAComputedAnswerThatTheQuestionNamesIsAboutIt(t *testing.T) {
	run := &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{{Answer: "Orla",
		Evidence: []*graphv1.Triple{{Subject: "Orla", Relation: "length", Object: "1094"}}}},
		Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED,
		Graphs: &orchestratorv1.Run_Query{Query: &orchestratorv1.QueryGraphs{Plan: &graphv1.QueryPlan{
			Clauses: []*graphv1.QueryClause{{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{
				Variable: "x", Entities: []string{"Orla", "Tessen"}}}}}}}}}
	doubtNames(run, "Which is longer, the Orla or the Tessen?")
	if run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_GROUNDED {
		t.Error(run.GetGroundingReason())
	}
	doubtNames(run, "Which is longer, the Glomma or the Driva?")
	if !isWithheld(run) {
		t.Error("an answer about another name is not withheld")
	}
}

func TestTheIDOfAnEntityIsItsName(t *testing.T) {
	for id, want := range map[string]bool{"T-107": false, "T-108": true} {
		run := &orchestratorv1.Run{Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED,
			Answers: []*orchestratorv1.Answer{{Answer: "Anna Lind", Evidence: []*graphv1.Triple{
				{Subject: "Empty invoice", SubjectId: id, Relation: "assignee", Object: "Anna Lind"}}}}}
		if doubtNames(run, nameIDs("Who is assigned to T-107?", run)); isDoubted(run) != want {
			t.Errorf("%s: %v: %s", id, run.GetGrounding(), run.GetGroundingReason())
		}
	}
}

func TestAPlanOfOneFactDoesNotSayWhatIsAskedOfAnother(t *testing.T) {
	fact := func(relation string) *graphv1.QueryClause {
		return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Match{Match: &graphv1.QueryPattern{
			Start: &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Entity{Entity: "Acme"}},
			Steps: []*graphv1.RelationStep{{Relation: relation}},
			End:   &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: "x"}}}}}
	}
	for _, c := range []struct {
		question string
		clauses  []*graphv1.QueryClause
		doubted  bool
	}{
		{"How old is Acme's founder?", []*graphv1.QueryClause{fact("founded in")}, true},
		{"How old is Acme?", []*graphv1.QueryClause{fact("founded in")}, false},
		{"How old is Acme's founder?", []*graphv1.QueryClause{fact("founder"), fact("age")}, false},
	} {
		run := &orchestratorv1.Run{Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED,
			Answers: []*orchestratorv1.Answer{{Answer: "1952"}}, Graphs: &orchestratorv1.Run_Query{
				Query: &orchestratorv1.QueryGraphs{Plan: &graphv1.QueryPlan{Clauses: c.clauses}}}}
		doubtPath(run, c.question)
		if got := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED; got != c.doubted {
			t.Errorf("%s: %v %q", c.question, run.GetGrounding(), run.GetGroundingReason())
		}
	}
}

func TestFactsAboutSomethingThatAQuestionDoesNotNameAreDoubted(t *testing.T) {
	for question, doubted := range map[string]bool{
		"Which countries do the films come from?":    true,
		"Which country does The Salt Road come from": false,
		"Which country does the salt road lead to?":  false,
		"which countries do the films come from":     false,
	} {
		run := &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{{Answer: "Norway",
			Evidence: []*graphv1.Triple{{Subject: "The Salt Road", Relation: "country", Object: "Norway"}}}},
			Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED}
		doubtNames(run, question)
		if got := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED; got != doubted {
			t.Errorf("%s: %v %q", question, run.GetGrounding(), run.GetGroundingReason())
		}
	}
}

// runOfFacts is a run with an answer that is GROUNDED in facts.
func runOfFacts(answer string, facts ...*graphv1.ScoredTriple) *orchestratorv1.Run {
	return &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{{Answer: answer}},
		Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED, Graphs: &orchestratorv1.Run_PgAkv{
			PgAkv: &orchestratorv1.PgAkvGraphs{GroundGraph: &graphv1.GroundGraph{
				Subjects: []*graphv1.SubjectEvidence{{Triples: facts}}}}}}
}

func TestAnswersOfJoinedFactsThatAreNotAskedForAreDoubted(t *testing.T) {
	scored := func(relation, object string, near float32, leastHop *float32) *graphv1.ScoredTriple {
		return &graphv1.ScoredTriple{RelationScore: &near, LeastHopScore: leastHop,
			Triple: &graphv1.Triple{Subject: "Anna Lind", Relation: relation, Object: object}}
	}
	stray, said := proto.Float32(0.1), proto.Float32(0.6)
	for _, c := range []struct {
		name    string
		triples []*graphv1.ScoredTriple
		doubted bool
	}{
		{"a fact of the spouse", []*graphv1.ScoredTriple{scored("spouse / employer", "Acme", 0.7, stray)}, true},
		{"a path that the question says",
			[]*graphv1.ScoredTriple{scored("spouse / employer", "Acme", 0.7, said)}, false},
		{"that the spouse has it", []*graphv1.ScoredTriple{scored("spouse / employer", "Acme", 0.7, stray),
			{RelationScore: proto.Float32(0.7), Triple: &graphv1.Triple{Subject: "Per Holm", Relation: "employer",
				Object: "Acme"}}}, true},
		{"a fact of its own beside it", []*graphv1.ScoredTriple{scored("spouse / employer", "Acme", 0.7, stray),
			scored("works for", "Acme", 0.6, nil)}, false},
		{"a fact of its own that fits much worse",
			[]*graphv1.ScoredTriple{scored("spouse / employer", "Borg", 0.7, stray), scored("city", "Acme", 0.3, nil)},
			true},
		{"only facts of its own", []*graphv1.ScoredTriple{scored("works for", "Acme", 0.5, nil)}, false},
		{"a fact that hardly fits", []*graphv1.ScoredTriple{scored("city", "Acme", 0.2, nil)}, true},
		{"… with a word of the question", []*graphv1.ScoredTriple{scored("employees", "Acme", 0.2, nil)}, false},
		{"… that a ranker knows better", []*graphv1.ScoredTriple{{RelationScore: proto.Float32(0.2),
			Probability: proto.Float32(0.9), Triple: scored("firm", "Acme", 0, nil).GetTriple()}}, false},
		{"a fact that fits much worse than another of the same thing", []*graphv1.ScoredTriple{
			scored("city", "Acme", 0.5, nil), scored("firm", "Borg", 0.8, nil)}, true},
		{"… or than one of something else", []*graphv1.ScoredTriple{scored("city", "Acme", 0.5, nil),
			{RelationScore: proto.Float32(0.8), Triple: &graphv1.Triple{Subject: "Per Holm", Relation: "firm",
				Object: "Borg"}}}, false},
		{"nothing names the answer", []*graphv1.ScoredTriple{scored("spouse / employer", "Borg", 0.7, stray)}, false},
	} {
		run := runOfFacts("Acme", c.triples...)
		doubtPath(run, "Who employs Anna Lind?")
		if doubted := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED; doubted != c.doubted {
			t.Errorf("%s: %v %q", c.name, run.GetGrounding(), run.GetGroundingReason())
		}
	}
}

func TestANounAsksForARelationThatFits(t *testing.T) {
	for _, c := range []struct {
		question, relation string
		doubted            bool
	}{
		{"Who is the dean of Anna Lind?", "department", true}, {"Who is Anna Lind's dean?", "department", true},
		{"Who is the head of department of Anna Lind?", "department", false},
		{"Who does Anna Lind report to?", "department", false},
	} {
		run := runOfFacts("Acme", &graphv1.ScoredTriple{RelationScore: proto.Float32(0.36),
			Triple: &graphv1.Triple{Subject: "Anna Lind", Relation: c.relation, Object: "Acme"}})
		doubtPath(run, c.question)
		if isDoubted(run) != c.doubted {
			t.Errorf("%s: %v %q", c.question, run.GetGrounding(), run.GetGroundingReason())
		}
	}
}

func TestAVerbAsksForARelationThatFits(t *testing.T) {
	for _, c := range []struct {
		question, relation string
		near               float32
		doubted            bool
	}{
		{"Who designed Anna Lind?", "supplier", 0.38, true}, {"Who designed Anna Lind?", "architect", 0.59, false},
		{"Who designed Anna Lind?", "designer", 0.38, false}, {"Who makes Anna Lind?", "manufacturer", 0.38, false},
		{"Which company designed Anna Lind?", "supplier", 0.38, true},
		{"Who did Anna Lind meet?", "guest", 0.38, false}, {"What designed Anna Lind?", "supplier", 0.38, false},
		{"Who was the uncle of Anna Lind?", "dynasty", 0.6, true}, {"Who named Anna Lind?", "named after", 0.9, true},
		{"Who is Anna Lind named after?", "named after", 0.9, false},
		{"Who reported Anna Lind?", "saved from lind", 0.36, true},
		{"What is near Anna Lind?", "next station", 0.41, true}, {"What is near Anna Lind?", "near", 0.41, false},
		{"Who is in Anna Lind?", "belongs to", 0.41, false},
	} {
		run := runOfFacts("Acme", &graphv1.ScoredTriple{RelationScore: &c.near,
			Triple: &graphv1.Triple{Subject: "Anna Lind", Relation: c.relation, Object: "Acme"}})
		doubtPath(run, c.question)
		if doubted := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED; doubted != c.doubted {
			t.Errorf("%s by %s: %v %q", c.question, c.relation, run.GetGrounding(), run.GetGroundingReason())
		}
	}
}

func TestAnotherRelationThatTheQuestionHasAllWordsOfIsMeant(t *testing.T) {
	for relation, doubted := range map[string]bool{"flag": true, "banner": false, "type": false} {
		run := runOfFacts("Acme", &graphv1.ScoredTriple{RelationScore: proto.Float32(0.6),
			Triple: &graphv1.Triple{Subject: "Anna Lind", Relation: "emblem", Object: "Acme"}},
			&graphv1.ScoredTriple{RelationScore: proto.Float32(0.7),
				Triple: &graphv1.Triple{Subject: "Per Holm", Relation: relation, Object: "Borg"}})
		doubtPath(run, "What type of flag does Anna Lind have?")
		if got := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED; got != doubted {
			t.Errorf("beside %s: %v %q", relation, run.GetGrounding(), run.GetGroundingReason())
		}
	}
}

func TestWhatIsAskedOfAThingIsNotTheThing(t *testing.T) {
	facts := []*graphv1.Triple{{Subject: "Acme", Relation: "terminus", Object: "Orla"},
		{Subject: "Orla", Relation: "line", Object: "Acme"}}
	for question, doubted := range map[string]bool{"Who operates the line that Orla is on?": true,
		"What is the line that Orla is on?": false, "Which line is Orla on?": false} {
		run := &orchestratorv1.Run{Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED,
			Answers: []*orchestratorv1.Answer{{Answer: "Acme", Evidence: facts}}}
		doubtPath(run, question)
		if got := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED; got != doubted {
			t.Errorf("%s: %v %q", question, run.GetGrounding(), run.GetGroundingReason())
		}
	}
}

func TestABirthIsNotWhenSomethingElseWas(t *testing.T) {
	for _, c := range []struct {
		question, relation string
		doubted            bool
	}{
		{"When did Anna Lind's career begin?", "birthYear", true}, {"When was Anna Lind born?", "birthYear", false},
		{"When did Anna Lind's career begin?", "activeYear", false},
		{"How old is Anna Lind?", "birthYear", false},
	} {
		run := runOfFacts("1982", &graphv1.ScoredTriple{RelationScore: proto.Float32(0.5),
			Triple: &graphv1.Triple{Subject: "Anna Lind", Relation: c.relation, Object: "1982"}})
		doubtPath(run, c.question)
		if doubted := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED; doubted != c.doubted {
			t.Errorf("%s by %s: %v %q", c.question, c.relation, run.GetGrounding(), run.GetGroundingReason())
		}
	}
}

func TestAFactThatTheQuestionAsksTheOtherWayRoundIsDoubted(t *testing.T) {
	mouth := func(from, to string) *graphv1.Triple {
		return &graphv1.Triple{Subject: from, Relation: "mouth", Object: to}
	}
	sea := &orchestratorv1.Answer{Answer: "Tessen Sea", Evidence: []*graphv1.Triple{mouth("Orla", "Tessen Sea")}}
	harn := &orchestratorv1.Answer{Answer: "Harn", Evidence: []*graphv1.Triple{mouth("Harn", "Orla")}}
	for _, c := range []struct {
		question string
		answers  []*orchestratorv1.Answer
		doubted  bool
	}{
		{"Which rivers flow into the Orla?", []*orchestratorv1.Answer{sea}, true},
		{"Which rivers flow into the Orla?", []*orchestratorv1.Answer{harn}, false},
		{"Which rivers flow into the Orla?", []*orchestratorv1.Answer{harn, sea}, true},
		{"Where does the Orla flow?", []*orchestratorv1.Answer{sea}, false},
		{"What is the mouth of the Orla?", []*orchestratorv1.Answer{sea}, false},
	} {
		run := &orchestratorv1.Run{Answers: c.answers,
			Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED, Graphs: &orchestratorv1.Run_PgAkv{
				PgAkv: &orchestratorv1.PgAkvGraphs{GroundGraph: &graphv1.GroundGraph{
					Subjects: []*graphv1.SubjectEvidence{{Triples: []*graphv1.ScoredTriple{
						{Triple: mouth("Orla", "Tessen Sea")}, {Triple: mouth("Harn", "Orla")}}}}}}}}
		doubtPath(run, c.question)
		if got := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED; got != c.doubted {
			t.Errorf("%s of %d: %v %q", c.question, len(c.answers), run.GetGrounding(), run.GetGroundingReason())
		}
	}
}

func TestWhatTwoHaveInCommonTakesTwoTriples(t *testing.T) {
	school := &graphv1.Triple{Subject: "Anna Lind", Relation: "school", Object: "Orla"}
	other := &graphv1.Triple{Subject: "Per Holm", Relation: "school", Object: "Orla"}
	for _, c := range []struct {
		text     string
		evidence []*graphv1.Triple
		doubted  bool
	}{
		{"Who went to the same school as Anna Lind?", []*graphv1.Triple{school}, true},
		{"Who went to the same school as Anna Lind?", []*graphv1.Triple{school, other}, false},
		{"Which school did Anna Lind go to?", []*graphv1.Triple{school}, false},
	} {
		run := &orchestratorv1.Run{Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED,
			Answers: []*orchestratorv1.Answer{{Answer: "Orla", Evidence: c.evidence}}}
		doubtShared(run, c.text)
		if doubted := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED; doubted != c.doubted {
			t.Errorf("%q by %d triples: %v", c.text, len(c.evidence), run.GetGrounding())
		}
	}
}

func TestAnAnswerAboutOneOfTwoNamesIsDoubted(t *testing.T) {
	one := &graphv1.Triple{Subject: "Anna Lind", Relation: "school", Object: "Orla"}
	other := &graphv1.Triple{Subject: "Per Holm", Relation: "school", Object: "Orla"}
	for _, c := range []struct {
		text     string
		evidence []*graphv1.Triple
		doubted  bool
	}{
		{"Which school did both Anna Lind and Per Holm go to?", []*graphv1.Triple{one}, true},
		{"Which school did both Anna Lind and Per Holm go to?", []*graphv1.Triple{one, other}, false},
		{"Which school did Anna Lind go to?", []*graphv1.Triple{one}, false},
		{"Which schools do Anna Lind and Per Holm share?", []*graphv1.Triple{one}, true},
		{"What do Anna Lind and Per Holm have in common?", []*graphv1.Triple{one, other}, false},
	} {
		run := &orchestratorv1.Run{Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED,
			Answers: []*orchestratorv1.Answer{{Answer: "Orla", Evidence: c.evidence}}}
		doubtBoth(run, c.text)
		if doubted := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED; doubted != c.doubted {
			t.Errorf("%q by %d triples: %v", c.text, len(c.evidence), run.GetGrounding())
		}
	}
	run := &orchestratorv1.Run{Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED,
		Answers: []*orchestratorv1.Answer{{Answer: "Orla", Evidence: []*graphv1.Triple{one, other}},
			{Answer: "Tessen", Evidence: []*graphv1.Triple{one}}}}
	if doubtBoth(run, "Which schools did both Anna Lind and Per Holm go to?"); !strings.Contains(
		run.GetGroundingReason(), "the triples of Tessen say nothing of Per Holm") {
		t.Errorf("a second answer about one of both: %v %s", run.GetGrounding(), run.GetGroundingReason())
	}
}

func TestAnotherRelationThanThatOfTheKindAskedForIsWithheld(t *testing.T) {
	rating := &graphv1.Triple{Subject: "Review 5", Relation: "rating", Object: "6.1"}
	hotel := &graphv1.Triple{Subject: "Review 5", Relation: "hotel", Object: "Orla Inn"}
	birth := &graphv1.Triple{Subject: "Anna Lind", Relation: "birthplace", Object: "Orla"}
	city := &graphv1.Triple{Subject: "Anna Lind", Relation: "city", Object: "Tessen"}
	for _, c := range []struct {
		text        string
		said, other *graphv1.Triple
		withheld    bool
	}{
		{"Which hotel did Review 5 rate?", rating, hotel, true},
		{"Which rating did Review 5 give?", rating, hotel, false},
		{"Which hotel did Review 5 rate?", hotel, rating, false},
		{"Which hotel did Review 7 rate?", rating, hotel, false},
		{"In which city was Anna Lind born?", birth, city, false},
	} {
		run := &orchestratorv1.Run{Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED,
			Answers: []*orchestratorv1.Answer{{Answer: c.said.GetObject(), Evidence: []*graphv1.Triple{c.said}}},
			Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{GroundGraph: &graphv1.GroundGraph{
				Subjects: []*graphv1.SubjectEvidence{{Subject: c.said.GetSubject(),
					Triples: []*graphv1.ScoredTriple{{Triple: c.said}, {Triple: c.other}}}}}}}}
		doubtRelation(run, c.text)
		if withheld := len(run.GetWithheld()) > 0; withheld != c.withheld {
			t.Errorf("%q by %s: %v, %s", c.text, c.said.GetRelation(), run.GetGrounding(), run.GetGroundingReason())
		}
	}
}

func TestAValueIsNotWho(t *testing.T) {
	for _, c := range []struct {
		question, answer string
		doubted          bool
	}{
		{"Who discovered Orla?", "1868-11-17", true}, {"Who leads Orla?", "12", true},
		{"Who wrote Orla?", "Per Holm", false}, {"When was Orla found?", "1868-11-17", false},
		{"Who sang Orla?", "50 Cent", false}, {"Which awards did Per Holm win?", "20", true},
		{"Which years did Orla lead?", "1989", false}, {"What was the mass of Orla?", "20", false},
		{"Which films did Per Holm direct?", "1984 (film)", false},
	} {
		run := &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{{Answer: c.answer}},
			Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED}
		doubtName(run, c.question)
		if isWithheld(run) != c.doubted || isDoubted(run) != c.doubted {
			t.Errorf("%q: %s: %v", c.question, c.answer, run.GetGrounding())
		}
	}
	language := &graphv1.Triple{Subject: "Orla", Relation: "has language", Object: "Tessen"}
	for question, doubted := range map[string]bool{"Who translated Orla?": true, "What is Orla written in?": false} {
		run := &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{{Answer: "Tessen",
			Evidence: []*graphv1.Triple{language}}}, Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED}
		doubtName(run, question)
		if isWithheld(run) != doubted || isDoubted(run) != doubted {
			t.Errorf("%q: a language: %v", question, run.GetGrounding())
		}
	}
	for _, c := range []struct {
		name, question, answer, relation string
		doubted                          bool
	}{
		{"a date is no place", "In which city was Per Holm born?", "1997-09-09", "date of birth", true},
		{"by whom is no place", "Where was the Orla Hall founded?", "Tessen", "founded by", true},
		{"a floor is one", "Where is the archive?", "3", "floor", false},
		{"where it is made is not by whom", "Who makes the Orla Hall?", "Tessen", "made in", true},
		{"a city owns nothing", "Who owns the Orla Hall?", "Tessen", "city", true},
		{"what is so is not what was so before", "Which club did Per Holm play for before?", "Orla", "club", true},
		{"what was so before", "Which club did Per Holm play for before?", "Orla", "previous club", false},
	} {
		run := &orchestratorv1.Run{Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED,
			Answers: []*orchestratorv1.Answer{{Answer: c.answer, Evidence: []*graphv1.Triple{
				{Subject: "x", Relation: c.relation, Object: c.answer}}}}}
		doubtName(run, c.question)
		if isDoubted(run) != c.doubted {
			t.Errorf("%s: %v, %s", c.name, run.GetGrounding(), run.GetGroundingReason())
		}
	}
	film := &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{{Answer: "300", Evidence: []*graphv1.Triple{
		{Subject: "300", Relation: "director", Object: "Per Holm"}}}}}
	if doubtName(film, "Which films did Per Holm direct?"); film.GetGroundingReason() != "" {
		t.Errorf("a film of that name: %q", film.GetGroundingReason())
	}
	doubtName(&orchestratorv1.Run{}, "Who discovered Orla?")
}
