package feedback

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Question is a question with what callers said of its answers. As a line of JSON it is one that
// `triplemesh eval` reads, provided that it has answers.
type Question struct {
	// Question has the answers that are known to be right, with their ids as aliases, and the topic
	// entities that the newest run started from. Its id is that of the newest run.
	dataset.Question
	// Given are the answers that the newest run gave, best first.
	Given []string `json:"-"`
	// Wrong are the answers that are known to be wrong.
	Wrong []string `json:"wrong_answers,omitempty"`
	// RightTriples and WrongTriples are the triples that were marked so; missing ones are right.
	RightTriples []*graphv1.Triple `json:"-"`
	WrongTriples []*graphv1.Triple `json:"-"`
	// Complete reports whether the right answers are all there are, as far as callers can tell: every
	// answer that a run gave is known to be right or wrong.
	Complete bool `json:"complete"`
	// KG is the snapshot that the newest run read; nil if it read none.
	KG *graphv1.KnowledgeGraphRef `json:"-"`
	// Runs are the runs that were marked, newest first.
	Runs []string `json:"runs"`
	// Callers is the number of callers who marked something.
	Callers int `json:"callers"`
}

// Contest is an item on which callers disagree.
type Contest struct {
	// Question is what was asked, Item the answer or the triple.
	Question, Item string
	// Right and Wrong count the callers.
	Right, Wrong int
}

// Set is the feedback on one knowledge graph.
type Set struct {
	// Questions are in the order of their newest runs, newest first.
	Questions []Question
	// Marks counts the marks that count: the latest of each caller on an item of a question.
	Marks int
	// Callers counts the marks of each caller.
	Callers map[string]int
	// Items counts the answers and triples that were marked.
	Items int
	// Contested are the items whose callers disagree too much to tell: they are neither right nor wrong
	// in Questions.
	Contested []Contest
}

// agreement is how many times as many callers must say one as say the other.
const agreement = 2

// Collect brings the marks together that are about the same question to a knowledge graph; of all of
// them if kg is empty. Each caller has one vote on each answer or triple of a question, the latest.
// Right and missing are the same vote. An item is right or wrong if nobody says otherwise, or at
// least twice as many callers say so as say the opposite.
func Collect(marks []*orchestratorv1.Feedback, kg string) Set {
	groups := map[string][]*orchestratorv1.Feedback{}
	var order []string
	for _, m := range newestFirst(marks) {
		if kg != "" && m.GetKg().GetName() != kg {
			continue
		}
		key := m.GetKg().GetName() + "\x00" + kgtext.Fold(m.GetQuestion())
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], m)
	}
	set := Set{Callers: map[string]int{}}
	for _, key := range order {
		set.addQuestion(groups[key])
	}
	return set
}

// newestFirst sorts marks by run and then by time, both newest first. Ids of runs sort by time.
func newestFirst(marks []*orchestratorv1.Feedback) []*orchestratorv1.Feedback {
	sorted := slices.Clone(marks)
	slices.SortStableFunc(sorted, func(a, b *orchestratorv1.Feedback) int {
		return cmp.Or(cmp.Compare(b.GetRunId(), a.GetRunId()),
			b.GetCreateTime().AsTime().Compare(a.GetCreateTime().AsTime()), cmp.Compare(a.GetId(), b.GetId()))
	})
	return sorted
}

// item is an answer or a triple of a question, with the votes of its callers.
type item struct {
	mark  *orchestratorv1.Mark // the newest
	votes map[string]vote      // by caller
}

// vote is the latest of a caller on an item.
type vote struct {
	right bool
	at    int64
}

func (it *item) count() (right, wrong int) {
	for _, v := range it.votes {
		if v.right {
			right++
		} else {
			wrong++
		}
	}
	return right, wrong
}

// addQuestion adds the marks on one question, newest first.
func (s *Set) addQuestion(marks []*orchestratorv1.Feedback) {
	newest := marks[0]
	q := Question{KG: newest.GetKg(), Question: dataset.Question{ID: newest.GetRunId(), Question: newest.GetQuestion(),
		Kind: dataset.Set}}
	for _, e := range newest.GetTopicEntities() {
		q.TopicEntities = append(q.TopicEntities, cmp.Or(e.GetName(), e.GetId()))
	}
	for _, a := range newest.GetAnswers() {
		q.Given = append(q.Given, a.GetAnswer())
	}
	items, order := map[string]*item{}, []string{}
	callers := map[string]bool{}
	for _, m := range marks {
		if !slices.Contains(q.Runs, m.GetRunId()) {
			q.Runs = append(q.Runs, m.GetRunId())
		}
		callers[m.GetSubject()] = true
		key := itemKey(m.GetMark())
		it := items[key]
		if it == nil {
			it = &item{mark: m.GetMark(), votes: map[string]vote{}}
			items[key] = it
			order = append(order, key)
		}
		v := vote{m.GetMark().GetJudgement() != orchestratorv1.Judgement_JUDGEMENT_WRONG,
			m.GetCreateTime().AsTime().UnixNano()}
		if before, voted := it.votes[m.GetSubject()]; !voted || v.at > before.at {
			it.votes[m.GetSubject()] = v
		}
	}
	q.Callers = len(callers)
	decided := map[string]bool{}
	for _, key := range order {
		it := items[key]
		s.Items++
		s.Marks += len(it.votes)
		for caller := range it.votes {
			s.Callers[caller]++
		}
		right, wrong := it.count()
		switch {
		case right >= agreement*wrong:
			q.add(it.mark, true)
		case wrong >= agreement*right:
			q.add(it.mark, false)
		default:
			s.Contested = append(s.Contested, Contest{q.Question.Question, itemName(it.mark), right, wrong})
			continue
		}
		decided[key] = true
	}
	q.Complete = len(q.Answers) > 0
	for _, m := range marks {
		for _, a := range m.GetAnswers() {
			q.Complete = q.Complete && decided[answerKey(a)]
		}
	}
	s.Questions = append(s.Questions, q)
}

// add adds an item that is known to be right or wrong.
func (q *Question) add(mark *orchestratorv1.Mark, right bool) {
	switch a, t := mark.GetAnswer(), mark.GetTriple(); {
	case t != nil && right:
		q.RightTriples = append(q.RightTriples, t)
	case t != nil:
		q.WrongTriples = append(q.WrongTriples, t)
	case right:
		var aliases []string
		if a.GetId() != "" && a.GetId() != a.GetAnswer() {
			aliases = []string{a.GetId()}
		}
		q.Answers, q.Aliases = append(q.Answers, a.GetAnswer()), append(q.Aliases, aliases)
	default:
		q.Wrong = append(q.Wrong, a.GetAnswer())
	}
}

// itemKey is equal for marks on the same answer or triple of a question.
func itemKey(mark *orchestratorv1.Mark) string {
	if t := mark.GetTriple(); t != nil {
		return strings.Join([]string{"triple", cmp.Or(t.GetSubjectId(), fold(t.GetSubject())), fold(t.GetRelation()),
			cmp.Or(t.GetObjectId(), fold(t.GetObject()))}, "\x00")
	}
	return answerKey(mark.GetAnswer())
}

func answerKey(a *orchestratorv1.MarkedAnswer) string {
	return "answer\x00" + cmp.Or(a.GetId(), fold(a.GetAnswer()))
}

// fold makes names comparable whatever their case and spaces. Signs stay: -5 is not 5.
func fold(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

func itemName(mark *orchestratorv1.Mark) string {
	if t := mark.GetTriple(); t != nil {
		return kgtext.FormatFact(t)
	}
	return mark.GetAnswer().GetAnswer()
}

// WriteQuestions writes the questions that have right answers as JSON Lines, which `triplemesh eval`
// reads, and returns how many there are.
func (s Set) WriteQuestions(out io.Writer) (int, error) {
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	written := 0
	for _, q := range s.Questions {
		if len(q.Answers) == 0 {
			continue
		}
		if err := lines.Encode(q); err != nil {
			return written, fmt.Errorf("write questions: %w", err)
		}
		written++
	}
	return written, nil
}
