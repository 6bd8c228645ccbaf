package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/report/plot"
	"github.com/triplemesh/triplemesh/lab/results"
	"github.com/triplemesh/triplemesh/lab/stats"
)

// plots returns those of a section that have something to show.
func (s *Section) plots() []Figure {
	var out []Figure
	for _, draw := range []func() (Figure, bool){s.costPlot, s.hopsPlot, s.riskPlot, s.refusalPlot} {
		if figure, any := draw(); any {
			out = append(out, figure)
		}
	}
	return out
}

// costPlot returns accuracy against tokens. Answers from the cache cost no tokens, so
// only runs without any count; where too few methods have such runs, it is
// accuracy against calls, cached ones included.
func (s *Section) costPlot() (Figure, bool) {
	if points := s.points(uncachedTokens); len(points) > 1 {
		note := "Each method with its 95 % interval. Up and to the left is better."
		if len(points) < len(s.group.Evaluations) {
			note += " Methods whose every run had an answer from the cache are left out: their tokens were not counted."
		}
		return s.scatter("tokens", "tokens a question", note, points), true
	}
	if points := s.points(allCalls); len(points) > 0 {
		return s.scatter("calls", "model calls a question, cached ones included",
			"Each method with its 95 % interval. Calls stand in for tokens, since answers came from the cache and "+
				"their tokens were not counted.", points), true
	}
	return Figure{}, false
}

func (s *Section) scatter(what, x, note string, points []plot.Point) Figure {
	p := plot.Scatter{
		Title: fmt.Sprintf("%s against %s, %s", s.main.Title, what, s.Title),
		X:     plot.Axis{Label: x, Log: what == "tokens"}, Y: plot.Axis{Label: s.main.Title, Percent: true},
		Points: points,
	}
	return Figure{Title: s.main.Title + " against " + what, Note: note, SVG: p.SVG()}
}

func (s *Section) points(of func(*results.Measures) (float64, bool)) []plot.Point {
	var out []plot.Point
	for i, e := range s.group.Evaluations {
		y, scored := e.Summary.Figures[s.main.Key]
		sum, n := 0.0, 0
		for _, r := range e.Records {
			if r.Measures == nil {
				continue
			}
			if v, counts := of(r.Measures); counts {
				sum, n = sum+v, n+1
			}
		}
		if scored && n > 0 {
			out = append(out, plot.Point{Label: e.Name, X: sum / float64(n), Y: y.Value, Low: y.Low, High: y.High,
				Mark: s.marks[i]})
		}
	}
	return out
}

func uncachedTokens(m *results.Measures) (float64, bool) {
	tokens := float64(m.PromptTokens + m.CompletionTokens)
	return tokens, m.CachedCalls == 0 && tokens > 0
}

func allCalls(m *results.Measures) (float64, bool) { return float64(m.Calls + m.CachedCalls), true }

// hopsPlot returns accuracy by the number of hops, where questions differ in it.
func (s *Section) hopsPlot() (Figure, bool) {
	p := plot.Panels{Title: s.main.Title + " by hops, " + s.Title, X: s.main.Title + " in per cent"}
	byHops, keys := make([]map[int][]float64, len(s.group.Evaluations)), make([]map[int][]string,
		len(s.group.Evaluations))
	counts := make(map[int]int)
	for i, e := range s.group.Evaluations {
		if _, applies := e.Summary.Figures[s.main.Key]; !applies {
			continue
		}
		byHops[i], keys[i] = make(map[int][]float64), make(map[int][]string)
		for _, r := range e.Records {
			if v, applies := s.main.Of(r); applies && r.Hops != nil && *r.Hops > 0 {
				byHops[i][*r.Hops] = append(byHops[i][*r.Hops], v)
				keys[i][*r.Hops] = append(keys[i][*r.Hops], r.ClusterKey())
				counts[*r.Hops] = max(counts[*r.Hops], len(byHops[i][*r.Hops]))
			}
		}
	}
	if len(counts) < 2 {
		return Figure{}, false
	}
	hops := slices.Sorted(maps.Keys(counts))
	hops = hops[:min(len(hops), maxPanels)]
	note := "With 95 % intervals: the number of triples between a topic entity and the nearest answer. Questions:"
	for _, h := range hops {
		p.Names = append(p.Names, plural(h, "hop"))
		note += fmt.Sprintf(" %d of %s,", counts[h], plural(h, "hop"))
	}
	for i, e := range s.group.Evaluations {
		if len(byHops[i]) == 0 {
			continue
		}
		row := plot.PanelRow{Label: e.Name, Mark: s.marks[i]}
		for _, h := range hops {
			b := stats.Interval{Mean: math.NaN()}
			if values := byHops[i][h]; len(values) > 0 {
				b = stats.BootstrapClusters(values, keys[i][h], 2000, 1)
			}
			row.Values, row.Low, row.High = append(row.Values, b.Mean), append(row.Low, b.Low), append(row.High, b.High)
		}
		p.Rows = append(p.Rows, row)
	}
	return Figure{Title: s.main.Title + " by hops", Note: note[:len(note)-1] + ".", SVG: p.SVG()}, true
}

// maxPanels is how many panels can be read side by side.
const maxPanels = 4

// riskPlot returns how often answers are wrong where only the surest are given.
func (s *Section) riskPlot() (Figure, bool) {
	p := plot.Lines{
		Title: "Risk and coverage, " + s.Title,
		X:     plot.Axis{Label: "share of the questions answered, the surest first", Percent: true},
		Y:     plot.Axis{Label: "wrong among them", Percent: true},
	}
	note := "How often the first answer is wrong where answers with a low confidence are withheld; any answer to a " +
		"question that has none is wrong, and one withheld already is not covered. Lower is better; a confidence " +
		"that knows nothing gives a level line."
	areas := ""
	for i, e := range s.group.Evaluations {
		judged, all := collectJudgements(e)
		if len(judged) < 2 {
			continue
		}
		curve := stats.RiskCoverage(judged)
		line := plot.Line{Label: e.Name, Mark: s.marks[i]}
		for _, point := range thin(curve.Points, 200) {
			line.X = append(line.X, point.Coverage*float64(len(judged))/float64(all))
			line.Y = append(line.Y, point.Risk)
		}
		p.Lines = append(p.Lines, line)
		areas += fmt.Sprintf("; %s %.2f, %.2f", e.Name, curve.Area, stats.Calibrate(judged, 0).ECE)
		if area, ok := stats.AUROC(judged); ok {
			areas += fmt.Sprintf(", %.2f", area)
		}
	}
	if len(p.Lines) == 0 {
		return Figure{}, false
	}
	note += " Area under the curve, calibration error and, where there are right and wrong answers, AUROC: " +
		areas[2:] + "."
	return Figure{Title: "Risk and coverage", Note: note, SVG: p.SVG()}, true
}

// refusalPlot returns how many unanswerable questions are answered where so many answerable ones are, by
// falling confidence, if there are both.
func (s *Section) refusalPlot() (Figure, bool) {
	p := plot.Lines{
		Title: "Answerable and unanswerable questions, " + s.Title,
		X:     plot.Axis{Label: "share of the answerable questions answered, the surest first", Percent: true},
		Y:     plot.Axis{Label: "share of the unanswerable ones answered", Percent: true},
	}
	for i, e := range s.group.Evaluations {
		var asked [2]float64 // answerable, unanswerable
		var given []stats.Judgement
		for _, r := range e.Records {
			if r.Kind == dataset.Open {
				continue
			}
			asked[int(share(r.Unanswerable))]++
			if m := r.Measures; m != nil && m.Answered && m.Confidence != nil {
				given = append(given, stats.Judgement{Confidence: *m.Confidence, Right: !r.Unanswerable})
			}
		}
		if asked[0] == 0 || asked[1] == 0 || len(given) < 2 {
			continue
		}
		line := plot.Line{Label: e.Name, Mark: s.marks[i]}
		for _, point := range thin(stats.RiskCoverage(given).Points, 200) {
			n := point.Coverage * float64(len(given))
			line.X = append(line.X, n*(1-point.Risk)/asked[0])
			line.Y = append(line.Y, n*point.Risk/asked[1])
		}
		p.Lines = append(p.Lines, line)
	}
	return Figure{Title: "Unanswerable questions answered", SVG: p.SVG(), Note: "How many questions without an " +
		"answer " +
		"are answered all the same, as the confidence from which on answers are given falls. Lower is better; what " +
		"a line does not reach on the right was abstained from."}, len(p.Lines) > 0
}

func share(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// collectJudgements returns the answers that have a confidence, and how many questions there
// are of the kind.
func collectJudgements(e *Evaluation) (out []stats.Judgement, all int) {
	for _, r := range e.Records {
		if r.Kind == dataset.Open {
			continue
		}
		all++
		if r.Measures != nil && r.Measures.Confidence != nil && r.Measures.Answered {
			out = append(out, stats.Judgement{Confidence: *r.Measures.Confidence, Right: r.Measures.Scores.HitsAt1 > 0})
		}
	}
	return out, all
}

// thin keeps the first and the last point, and of the others so many as can be
// told apart.
func thin(points []stats.Point, most int) []stats.Point {
	if len(points) <= most {
		return points
	}
	out := make([]stats.Point, 0, most)
	for i := range most {
		out = append(out, points[i*(len(points)-1)/(most-1)])
	}
	return out
}

// funnels show, for each method that makes something on its way, how many
// questions are left after each step.
func (s *Section) funnels() []Figure {
	var out []Figure
	for i, e := range s.group.Evaluations {
		levels := Funnel(e.Records)
		if !hasScores(e) && len(levels) > 0 {
			levels = levels[:len(levels)-1] // stopped before its answers
		}
		if len(levels) < 3 {
			continue
		}
		f := plot.Funnel{Title: "Where " + e.Name + " loses questions", Mark: s.marks[i]}
		for j, level := range levels {
			bar := plot.Bar{Label: level.Step.Title, Count: level.Count, Otherwise: level.Anew}
			if j == 0 {
				bar.Label = "asked"
			}
			f.Bars = append(f.Bars, bar)
		}
		out = append(out, Figure{Title: e.Name, Note: losses(e), SVG: f.SVG()})
	}
	return out
}

// hasScores reports whether the runs of an evaluation went on to their answers.
func hasScores(e *Evaluation) bool {
	_, applies := e.Summary.Figures["hit"]
	return applies
}

// losses says in words where wrong questions were lost, the most first.
func losses(e *Evaluation) string {
	counts := make(map[string]int)
	for _, r := range e.Records {
		if at, is := LostAt(r); is && (hasScores(e) || at.Key != Answer.Key) {
			counts[at.Key]++
		}
	}
	steps := LossSteps()
	slices.SortStableFunc(steps, func(a, b LossStep) int { return cmp.Compare(counts[b.Key], counts[a.Key]) })
	text := ""
	for _, s := range steps {
		if counts[s.Key] > 0 {
			text += fmt.Sprintf(", %d %s", counts[s.Key], s.Loss)
		}
	}
	if text == "" {
		return "Nothing lost."
	}
	return "Lost: " + text[2:] + "."
}
