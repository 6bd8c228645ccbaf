package report

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Question is one question with what each method of its section made of it.
type Question struct {
	// ID is the dataset's.
	ID string
	// Text is what was asked, Answers the right answers.
	Text, Answers string
	// Hops is the number of hops; empty if it is not known.
	Hops string
	// Outcomes are one for each method of the section.
	Outcomes []Outcome
}

// Outcome is the result of one question by one method.
type Outcome struct {
	// State is "y" for right, "n" for wrong, "o" for an open answer, "f" for a
	// failure; empty where the question was not asked.
	State string
	// Lost is the key of the step at which the right answer was lost, Loss says
	// so in words.
	Lost, Loss string
	// Place is where the details are: "pack.index".
	Place string
}

// Longest texts of a row: the details have more.
const (
	maxQuestion = 300
	maxAnswers  = 200
)

// places are where the details of an evaluation's questions are, by id.
type places map[string]Place

// batch is how many runs are in memory at a time.
const batch = 64

// pack reads every run once and compresses what the page shows of it.
func pack(evaluations []*Evaluation, into *Packer) (map[string]places, error) {
	all := make(map[string]places)
	for _, e := range evaluations {
		at := make(places, len(e.Records))
		all[e.Results.Dir] = at
		lines := make([]results.Line, 0, batch)
		for line, err := range e.Results.Lines() {
			if err != nil {
				return nil, err
			}
			if lines = append(lines, line); len(lines) == batch {
				if err := at.pack(lines, into); err != nil {
					return nil, fmt.Errorf("read results %s: %w", e.Results.Dir, err)
				}
				lines = lines[:0]
			}
		}
		if err := at.pack(lines, into); err != nil {
			return nil, fmt.Errorf("read results %s: %w", e.Results.Dir, err)
		}
	}
	return all, nil
}

// pack makes the details of lines on all processors and puts them away in order.
func (at places) pack(lines []results.Line, into *Packer) error {
	views := make([]View, len(lines))
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i, line := range lines {
		work.Go(func() (err error) {
			if views[i], err = loadView(line); err != nil {
				return fmt.Errorf("question %s: %w", line.ID, err)
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	for i, view := range views {
		place, err := into.Add(view)
		if err != nil {
			return err
		}
		at[lines[i].ID] = place
	}
	return nil
}

// loadView makes the details of a line.
func loadView(line results.Line) (View, error) {
	if line.Failure != nil {
		return View{Facts: [][2]string{{"Failed",
			Clip(line.Failure.Code + ": " + line.Failure.Message)}}}, nil
	}
	run := &orchestratorv1.Run{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(line.Run, run); err != nil {
		return View{}, fmt.Errorf("the run is not one: %w", err)
	}
	view := NewView(run, line.Answers)
	view.Facts = append([][2]string{{"Scores", formatScores(line.Record)}}, view.Facts...)
	return view, nil
}

func formatScores(r results.Record) string {
	s := r.Measures.Scores
	if r.Kind == dataset.Open {
		return fmt.Sprintf("ROUGE-L F1 %.2f", s.RougeL)
	}
	text := fmt.Sprintf("Hit %.0f, Hits@1 %.0f, precision %.2f, recall %.2f, F1 %.2f, exact match %.0f", s.Hit,
		s.HitsAt1, s.Precision, s.Recall, s.F1, s.ExactMatch)
	if at, is := LostAt(r); is {
		text += "; " + at.Loss
	}
	return text
}

// questions makes the rows of a section.
func (s *Section) questions(all map[string]places) {
	rows := make(map[string]*Question)
	var ids []string
	for column, e := range s.group.Evaluations {
		for _, r := range e.Records {
			q := rows[r.ID]
			if q == nil {
				q = &Question{ID: r.ID, Text: truncate(r.Question, maxQuestion),
					Answers: truncate(strings.Join(r.Answers,
						" · "), maxAnswers), Outcomes: make([]Outcome, len(s.group.Evaluations))}
				rows[r.ID] = q
				ids = append(ids, r.ID)
			}
			if r.Hops != nil && *r.Hops > 0 {
				q.Hops = fmt.Sprint(*r.Hops)
			}
			q.Outcomes[column] = outcome(r, all[e.Results.Dir], e.Manifest().Options.Until != "")
		}
	}
	slices.Sort(ids)
	s.Questions = make([]Question, len(ids))
	for i, id := range ids {
		s.Questions[i] = *rows[id]
	}
}

// outcome returns that of a record; stopped says that the runs were to end before
// their answers.
func outcome(r results.Record, at places, stopped bool) Outcome {
	o := Outcome{State: "n"}
	if place, there := at[r.ID]; there {
		o.Place = fmt.Sprintf("%d.%d", place.Pack, place.Index)
	}
	right, judged := IsRight(r)
	switch {
	case r.Measures == nil:
		o.State = "f"
	case !judged:
		o.State, o.Loss = "o", fmt.Sprintf("%.2f", r.Measures.Scores.RougeL)
	case right:
		o.State = "y"
	}
	switch step, is := LostAt(r); {
	case is && stopped && step.Key == Answer.Key:
		o.State, o.Loss = "o", "still there"
	case is:
		o.Lost, o.Loss = step.Key, step.Loss
	}
	return o
}

// truncate shortens a text.
func truncate(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
