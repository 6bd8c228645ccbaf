package plot

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// wellFormed reads an SVG through and returns its texts.
func wellFormed(t *testing.T, drawn template.HTML) string {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(string(drawn)))
	var texts strings.Builder
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return texts.String()
		}
		if err != nil {
			t.Fatalf("the plot is no XML: %v\n%s", err, drawn)
		}
		switch token := token.(type) {
		case xml.CharData:
			texts.Write(token)
			texts.WriteByte('\n')
		case xml.StartElement:
			for _, a := range token.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("<%s %s=%q>", token.Name.Local, a.Name.Local, a.Value)
				}
				if strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("<%s> has the handler %s", token.Name.Local, a.Name.Local)
				}
			}
			if token.Name.Local == "script" {
				t.Error("the plot has a script")
			}
		}
	}
}

const hostile = `"><script>alert(1)</script><g onload='x'>&`

func TestPlotsAreWellFormed(t *testing.T) {
	percent := Axis{Label: hostile, Percent: true}
	lines := []Line{{Label: hostile, Mark: Mark{Colour: 3}, X: []float64{.5, 1}, Y: []float64{.5, .6}},
		{Label: "no points"}}
	tests := []struct {
		name string
		svg  template.HTML
		want string
	}{
		{"a scatter plot with hostile labels", Scatter{Title: hostile, X: Axis{Label: "tokens", Log: true}, Y: percent,
			Points: []Point{{Label: hostile, X: 300, Y: .5, Low: .4, High: .6}}}.SVG(), "<script>"},
		{"a scatter plot without points", Scatter{X: Axis{Log: true}}.SVG(), ""},
		{"a scatter plot of values that are no numbers",
			Scatter{Points: []Point{{Label: "a", X: math.NaN(), Y: math.Inf(1), Low: math.Inf(-1),
				High: math.NaN()}}}.SVG(), "a"},
		{"a scatter plot of values of 0 on a logarithmic axis",
			Scatter{X: Axis{Log: true}, Points: []Point{{Label: "free", X: 0}}}.SVG(), "free"},
		{"panels with hostile names", Panels{Title: hostile, X: hostile, Names: []string{hostile, "2 hops"},
			Rows: []PanelRow{{Label: hostile, Values: []float64{.5, math.NaN()}, Low: []float64{.4, 0},
				High: []float64{.6, 0}}, {Label: "none"}}}.SVG(), "<script>"},
		{"no panels", Panels{}.SVG(), ""},
		{"steps over shares", Lines{Title: "risk", X: percent, Y: percent, Lines: lines}.SVG(), "<script>"},
		{"no lines", Lines{X: percent, Y: percent}.SVG(), ""},
		{"a funnel with hostile labels", Funnel{Title: hostile, Bars: []Bar{{hostile, 4, 0}, {"hits", 2, 1}}}.SVG(),
			"−3"},
		{"a funnel of no questions", Funnel{Bars: []Bar{{"asked", 0, 0}}}.SVG(), "asked"},
		{"an interval that leaves the line", Interval(1.5, -1, math.NaN(), Mark{Colour: -3, Shape: -1}), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if texts := wellFormed(t, test.svg); !strings.Contains(texts, test.want) {
				t.Errorf("texts are %q, want %q among them", texts, test.want)
			}
		})
	}
}

func TestLabelsOfACrowdedPlotDoNotOverlap(t *testing.T) {
	var places []labelled
	var taken []area
	for i := range 12 {
		p := labelled{150 + float64(i%4)*16, 120 + float64(i/4)*14, fmt.Sprintf("method %d", i)}
		places = append(places, p)
		taken = append(taken, area{p.x - 7, p.y - 7, 14, 14})
	}
	b := box{58, 34, 504, 288}
	placed := placeLabels(places, taken, b)
	for i, a := range placed {
		if outside(a, b) > 0 {
			t.Errorf("label %d lies outside: %+v", i, a)
		}
		for j, other := range placed[:i] {
			if a.overlap(other) > 0 {
				t.Errorf("labels %d and %d overlap: %+v, %+v", j, i, other, a)
			}
		}
	}
}

func TestSpread(t *testing.T) {
	tests := []struct {
		name    string
		heights []float64
		want    []float64
	}{
		{"what has room stays", []float64{100, 20, 60}, []float64{100, 20, 60}},
		{"what lies together is moved down in order", []float64{50, 50, 50}, []float64{50, 65, 80}},
		{"what would leave at the bottom is moved up", []float64{195, 198, 200}, []float64{170, 185, 200}},
		{"what lies above the top is moved in", []float64{-10, 5}, []float64{10, 25}},
		{"nothing is nothing", nil, []float64{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := spread(test.heights, 15, 10, 200); !slices.Equal(got, test.want) {
				t.Errorf("spread %v to %v, want %v", test.heights, got, test.want)
			}
		})
	}
}

func TestTicks(t *testing.T) {
	tests := []struct {
		name string
		got  []float64
		want []float64
	}{
		{"round steps", linearTicks(0, 5.5), []float64{0, 1, 2, 3, 4, 5}},
		{"round steps of tens", linearTicks(0, 112), []float64{0, 20, 40, 60, 80, 100}},
		{"powers of ten with 2 and 5 between", logTicks(90, 2100), []float64{100, 200, 500, 1000, 2000}},
		{"powers of ten alone over a wide range", logTicks(1, 1e5), []float64{1, 10, 100, 1000, 1e4, 1e5}},
		{"more steps over a narrow range", logTicks(140, 640), []float64{150, 200, 300, 400, 500}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if !slices.Equal(test.got, test.want) {
				t.Errorf("ticks are %v, want %v", test.got, test.want)
			}
		})
	}
}

func TestAxisFormat(t *testing.T) {
	tests := []struct {
		name  string
		axis  Axis
		value float64
		want  string
	}{
		{"a share in per cent", Axis{Percent: true}, .625, "63 %"},
		{"a small number as it is", Axis{}, 12.5, "12.5"},
		{"thousands of a logarithmic axis", Axis{Log: true}, 2000, "2 k"},
		{"millions", Axis{}, 2.5e6, "2.5 M"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := (scale{axis: test.axis}).format(test.value); got != test.want {
				t.Errorf("%v is written %q, want %q", test.value, got, test.want)
			}
		})
	}
}

func TestCutLeavesWhatFits(t *testing.T) {
	if got := cut("pg-akv", 200); got != "pg-akv" {
		t.Errorf("cut to %q", got)
	}
	long := strings.Repeat("ö", 100)
	if got := cut(long, 100); !strings.HasSuffix(got, "…") || textWidth(got) > 100 ||
		!strings.HasPrefix(long, strings.TrimSuffix(got, "…")) {
		t.Errorf("cut to %q, %v wide", got, textWidth(got))
	}
}
