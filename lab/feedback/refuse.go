package feedback

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Requirements are what a set must meet to be trained on. The zero value requires one question with
// a right answer.
type Requirements struct {
	// MinQuestions is the least number of questions with a right answer; 0 means 1.
	MinQuestions int
	// MinMarks is the least number of marks.
	MinMarks int
	// MinCallers is the least number of callers.
	MinCallers int
	// MaxShare is the largest share of the marks that one caller may have made, above 0 to 1; 0 means 1.
	// It is checked if MinCallers is at least 2.
	MaxShare float64
	// MaxContested is the largest share of items on which callers disagree, 0 to 1.
	MaxContested float64
}

// DefaultRequirements suit a mesh of one person: some marks, which do not contradict each other.
func DefaultRequirements() Requirements {
	return Requirements{MinQuestions: 20, MinMarks: 20, MinCallers: 1, MaxShare: .5, MaxContested: .2}
}

// Validate returns an error for the first invalid requirement.
func (r Requirements) Validate() error {
	switch {
	case r.MinQuestions < 0 || r.MinMarks < 0 || r.MinCallers < 0:
		return fmt.Errorf("questions, marks and callers must be at least 0")
	case !(r.MaxShare >= 0 && r.MaxShare <= 1):
		return fmt.Errorf("largest share of one caller: %g is not 0 to 1", r.MaxShare)
	case !(r.MaxContested >= 0 && r.MaxContested <= 1):
		return fmt.Errorf("share of contested items: %g is not 0 to 1", r.MaxContested)
	}
	return nil
}

// RefusedError says why a set is not to be trained on.
type RefusedError struct {
	// Reasons are sentences without a full stop.
	Reasons []string
}

func (e *RefusedError) Error() string {
	return "feedback refused: " + strings.Join(e.Reasons, "; ")
}

const (
	// shownContests is how many contested items a reason names.
	shownContests = 3
	// suspectQuestions is the number of questions from which on one answer to most of them is suspect.
	suspectQuestions = 5
)

// Check returns a RefusedError with every reason why the set does not meet the requirements.
func (s Set) Check(r Requirements) error {
	if err := r.Validate(); err != nil {
		return err
	}
	var reasons []string
	add := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	answered := 0
	for _, q := range s.Questions {
		if len(q.Answers) > 0 {
			answered++
		}
	}
	if least := max(r.MinQuestions, 1); answered < least {
		add("%d questions have an answer that is known to be right, and %d are needed: mark more answers", answered,
			least)
	}
	if s.Marks < r.MinMarks {
		add("there are %d marks, and %d are needed", s.Marks, r.MinMarks)
	}
	if len(s.Callers) < r.MinCallers {
		add("%s made the marks, and %d callers are needed", describeCallers(s.Callers), r.MinCallers)
	}
	if caller, marks := s.largestCaller(); r.MinCallers > 1 && r.MaxShare > 0 &&
		float64(marks) > r.MaxShare*float64(s.Marks) {
		add("%s made %d of %d marks, and one caller may make %.0f %% of them: review what that caller says with "+
			"`triplemesh feedback list --by`, or ask others", describeCaller(caller), marks, s.Marks, 100*r.MaxShare)
	}
	if n := len(s.Contested); s.Items > 0 && float64(n) > r.MaxContested*float64(s.Items) {
		add("callers contradict each other on %d of %d answers and triples, such as %s", n, s.Items,
			describeContests(s.Contested))
	}
	if answer, n := s.commonestAnswer(); answered >= suspectQuestions && 2*n > answered {
		add("%q is the right answer to %d of %d questions: that teaches to answer it always", answer, n, answered)
	}
	if len(reasons) > 0 {
		return &RefusedError{reasons}
	}
	return nil
}

// largestCaller returns the caller who made most marks.
func (s Set) largestCaller() (caller string, marks int) {
	for _, name := range slices.Sorted(maps.Keys(s.Callers)) {
		if s.Callers[name] > marks {
			caller, marks = name, s.Callers[name]
		}
	}
	return caller, marks
}

// commonestAnswer returns the answer that is right for most questions. Yes and no are not counted.
func (s Set) commonestAnswer() (answer string, questions int) {
	count := map[string]int{}
	for _, q := range s.Questions {
		for _, a := range q.Answers {
			key := fold(a)
			if key == "yes" || key == "no" {
				continue
			}
			if count[key]++; count[key] > questions {
				answer, questions = a, count[key]
			}
		}
	}
	return answer, questions
}

func describeCallers(callers map[string]int) string {
	names := slices.Sorted(maps.Keys(callers))
	switch len(names) {
	case 0:
		return "nobody"
	case 1:
		return describeCaller(names[0]) + " alone"
	}
	return fmt.Sprintf("%d callers", len(names))
}

func describeCaller(name string) string {
	if name == "" {
		return "a caller without authentication"
	}
	return fmt.Sprintf("the caller %q", name)
}

func describeContests(contests []Contest) string {
	var some []string
	for _, c := range contests[:min(len(contests), shownContests)] {
		some = append(some, fmt.Sprintf("%q to %q (%d right, %d wrong)", c.Item, c.Question, c.Right, c.Wrong))
	}
	return strings.Join(some, ", ")
}
