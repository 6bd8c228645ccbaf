package sft

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Summary says what was exported and what was not.
type Summary struct {
	// KG is the snapshot that was read, as NAME@N.
	KG string `json:"kg"`
	// Questions is the number of questions gone through.
	Questions int `json:"questions"`
	// DroppedLeaked were left out because they are in a test set too.
	DroppedLeaked int `json:"dropped_leaked"`
	// Unanswered were published without an answer.
	Unanswered int `json:"unanswered"`
	// PartlyMarked are of feedback that leaves open whether an answer is right.
	PartlyMarked int `json:"partly_marked,omitempty"`
	// OpenEnded have no answer entities.
	OpenEnded int `json:"open_ended"`
	// WithoutTopicEntities name none to start from.
	WithoutTopicEntities int `json:"without_topic_entities"`
	// Unreachable have no walk from a topic entity to an answer.
	Unreachable int `json:"unreachable"`
	// Answers and ReachedAnswers count the answers of the questions that have
	// topic entities, and those of them that a walk leads to.
	Answers        int `json:"answers"`
	ReachedAnswers int `json:"reached_answers"`
	// CutShort are questions for which not all shortest walks were looked at.
	CutShort int `json:"cut_short"`
	// Examples counts what was written, by task.
	Examples map[Task]Count `json:"examples"`
	// Runs counts the recorded runs; nil where none were given.
	Runs *RunsRead `json:"runs,omitempty"`
}

// Count is how many examples of a task there are.
type Count struct {
	Examples int `json:"examples"`
	// Questions is how many questions they are of.
	Questions int `json:"questions"`
	// Negative is how many of them show what is wrong; half of them, for the
	// tasks that judge.
	Negative int `json:"negative"`
}

func (s *Summary) add(m exportResult) {
	s.Questions++
	switch m.skipped {
	case openEnded:
		s.OpenEnded++
		return
	case withoutTopics:
		s.WithoutTopicEntities++
		return
	case unreachable:
		s.Unreachable++
	}
	s.Answers += m.answers
	s.ReachedAnswers += m.reached
	if m.truncated {
		s.CutShort++
	}
	seen := map[Task]bool{}
	for _, e := range m.examples {
		c := s.Examples[e.Task]
		c.Examples++
		if e.Negative {
			c.Negative++
		}
		if !seen[e.Task] {
			seen[e.Task] = true
			c.Questions++
		}
		s.Examples[e.Task] = c
	}
}

// Print writes the summary for people.
func (s Summary) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "task\texamples\tof them negative\tquestions")
	for _, t := range Tasks {
		if c, ok := s.Examples[t]; ok {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", t, c.Examples, c.Negative, c.Questions)
		}
	}
	questions := "questions"
	if s.Questions == 1 {
		questions = "question"
	}
	fmt.Fprintf(w, "%d %s over %s, %d of %d answers reached\n", s.Questions, questions, s.KG, s.ReachedAnswers,
		s.Answers)
	for _, left := range []struct {
		n    int
		what string
	}{
		{s.DroppedLeaked, "Dropped, being in a test set"},
		{s.Unreachable, "No walk from a topic entity to an answer"},
		{s.WithoutTopicEntities, "No topic entity named"},
		{s.OpenEnded, "Open-ended, answered by no entity"},
		{s.PartlyMarked, "Not every answer marked right or wrong, or none right"},
		{s.Unanswered, "Published without an answer"},
		{s.CutShort, "More shortest walks than were looked at"},
	} {
		if left.n > 0 {
			fmt.Fprintf(w, "%s: %d\n", left.what, left.n)
		}
	}
	if s.Runs != nil {
		fmt.Fprintf(w, "Recorded runs: %d of %d used, %d of other questions, %d without reasoning paths over this "+
			"knowledge graph\n",
			s.Runs.Used, s.Runs.Read, s.Runs.OtherQuestions, s.Runs.WithoutPaths)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}
