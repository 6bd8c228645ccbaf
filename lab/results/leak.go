package results

import "fmt"

// Leak is what the check for leaks found: few-shot examples, and questions that
// something was calibrated on, that are questions asked. Figures over such
// questions are too good.
type Leak struct {
	// Examples is the number of few-shot examples looked at, of all stages.
	Examples int `json:"examples"`
	// Calibration is the number of calibration questions looked at.
	Calibration int `json:"calibration,omitempty"`
	// Pairs are the examples found among the questions; empty is good.
	Pairs []LeakPair `json:"pairs"`
}

// LeakPair is an example and the question it gives away.
type LeakPair struct {
	// Kind says in what way they are one: the same text, or nearly.
	Kind string `json:"kind"`
	// Stage is the stage that shows the example to the model, with its prompt
	// and the example's number: "generator/pseudo_graph 2"; or the file and id of
	// a calibration question: "calibration/dev.jsonl 17".
	Stage string `json:"stage"`
	// Example is the example's question.
	Example string `json:"example"`
	// ID is the id of the question asked.
	ID string `json:"id"`
	// Question is the question asked.
	Question string `json:"question"`
}

// Looked says what was compared with the questions: "31 few-shot examples".
func (l Leak) Looked() string {
	looked := fmt.Sprintf("%d few-shot examples", l.Examples)
	if l.Calibration > 0 {
		looked += fmt.Sprintf(" and %d calibration questions", l.Calibration)
	}
	return looked
}
