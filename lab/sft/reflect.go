package sft

import (
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// reflect teaches to settle the answers: once with verdicts that are right, once
// with some that are wrong, so that a model learns how far to trust them. The
// answers are the same. A recorded run's verdicts are one of the two.
func (s Settings) reflect(sc scene) ([]Example, error) {
	ends := sc.ends(s.Reflection.MaxGroups, s.Reflection.MaxEnds)
	right, wrong := sc.gold.differing(endNames(ends, true)), endNames(ends, false)
	if len(right) == 0 || len(wrong) == 0 {
		return nil, nil
	}
	candidates := sc.candidates
	if len(candidates) == 0 {
		candidates = right
		if sc.random.IntN(2) == 0 {
			candidates = sc.faulty(right, wrong)
		}
	}
	truthful, mistaken := sc.feedback(candidates, right, false), sc.feedback(candidates, nil, true)
	if sc.verdicts != nil {
		recorded := feedback{sc.verdicts, sc.verdict}
		if sc.agrees(recorded) {
			truthful = recorded
		} else {
			mistaken = recorded
		}
	}
	var examples []Example
	for _, f := range []feedback{truthful, mistaken} {
		prompt, options, err := s.Prompts.Reflect(Reflection{
			Question: sc.question, Candidates: newCandidates(candidates), Paths: sc.paths, Verdict: f.set,
			Verdicts: f.each,
		})
		if err != nil {
			return nil, err
		}
		answers, _ := sc.gold.split(options)
		if len(answers) == 0 {
			return nil, nil
		}
		examples = append(examples, example(Reflect, sc.id, prompt, answersText(answers), !sc.agrees(f)))
	}
	return examples, nil
}

// feedback is what an evaluation said.
type feedback struct {
	each map[string]*graphv1.AnswerVerdict
	set  *graphv1.QuestionVerdict
}

// agrees reports whether no verdict on a candidate is wrong.
func (s scene) agrees(f feedback) bool {
	for name, v := range f.each {
		if !v.GetUnknown() && v.GetCorrect() != s.gold.contains(name) {
			return false
		}
	}
	return true
}

// feedback makes up verdicts on candidates, as sure as those of models are, and
// a review, which names what is missing of the expected answers. If so asked
// some verdicts, at least one, are wrong.
func (s scene) feedback(candidates, expected []string, mistaken bool) feedback {
	f := feedback{each: map[string]*graphv1.AnswerVerdict{}}
	turned := map[int]bool{}
	if mistaken {
		for _, i := range s.random.Perm(len(candidates))[:1+s.random.IntN(len(candidates))] {
			turned[i] = true
		}
	}
	var right, wrong []string
	for i, name := range candidates {
		correct := s.gold.contains(name) != turned[i]
		certainty := 0.55 + 0.43*s.random.Float32()
		if correct {
			right = append(right, name)
		} else {
			certainty = 1 - certainty
			wrong = append(wrong, name)
		}
		f.each[name] = &graphv1.AnswerVerdict{Answer: name, Correct: correct, Probability: &certainty}
	}
	lacks := s.gold.missing(expected, right)
	f.set = &graphv1.QuestionVerdict{Correct: len(wrong) == 0, Incomplete: len(lacks) > 0,
		Reason: reason(right, wrong, lacks)}
	return f
}
