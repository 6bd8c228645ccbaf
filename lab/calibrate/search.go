package calibrate

import (
	"context"
	"fmt"
)

// maxRounds bounds how often all parameters are gone through. Two rounds are
// enough wherever it was looked at; the third only confirms.
const maxRounds = 3

// Point is what one setting came to.
type Point struct {
	Setting Setting `json:"setting"`
	// Tuning is over the half that settings are chosen by, Held over the other.
	Tuning     Share `json:"tuning"`
	Validation Share `json:"held"`
}

// Share is what grounding came to over some questions.
type Share struct {
	// Questions is how many there are.
	Questions int `json:"questions"`
	// Found is how many have an answer in the ground graph.
	Found int `json:"found"`
	// Triples is the mean number of triples of a ground graph.
	Triples float64 `json:"triples"`
}

// Rate returns the share of questions with an answer in the ground graph, 0 to 1.
func (s Share) Rate() float64 {
	if s.Questions == 0 {
		return 0
	}
	return float64(s.Found) / float64(s.Questions)
}

// worth returns what settings are compared by: each triple shown must bring the
// answer in for price more of the questions.
func (s Share) worth(price float64) float64 { return s.Rate() - price*s.Triples }

// search finds the setting of most worth by the tuning half: from the better
// preset on, one parameter after the other is set to its best value, until a
// round changes nothing. It returns all that was measured, the preset default
// first.
type search struct {
	measure func(context.Context, Setting) (Point, error)
	price   float64
	told    func(Point)
	seen    map[string]Point
	curve   []Point
}

func (s *search) run(ctx context.Context) (best Point, curve []Point, err error) {
	s.seen = map[string]Point{}
	if best, err = s.try(ctx, Setting{Preset: "default"}); err != nil {
		return best, nil, err
	}
	paper, err := s.try(ctx, Setting{Preset: "paper"})
	if err != nil {
		return best, nil, err
	}
	best = s.better(best, paper)
	for range maxRounds {
		before := best
		for _, p := range parameters {
			for _, value := range p.values {
				point, err := s.try(ctx, best.Setting.withParameter(p.name, value))
				if err != nil {
					return best, s.curve, err
				}
				best = s.better(best, point)
			}
		}
		if best.Setting.String() == before.Setting.String() {
			break
		}
	}
	return best, s.curve, nil
}

// better returns the point of more worth; of two alike the first, which is nearer to
// the preset.
func (s *search) better(a, b Point) Point {
	if b.Tuning.worth(s.price) > a.Tuning.worth(s.price)+1e-9 {
		return b
	}
	return a
}

func (s *search) try(ctx context.Context, setting Setting) (Point, error) {
	name := setting.String()
	if point, ok := s.seen[name]; ok {
		return point, nil
	}
	point, err := s.measure(ctx, setting)
	if err != nil {
		return Point{}, fmt.Errorf("ground by %s: %w", name, err)
	}
	s.seen[name] = point
	s.curve = append(s.curve, point)
	s.told(point)
	return point, nil
}
