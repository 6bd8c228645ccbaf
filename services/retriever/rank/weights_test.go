package rank

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// smallWeights are weights of two units over vectors of four components.
func smallWeights(change func(*Weights)) *Weights {
	matrix := func(height, width int) [][]float32 {
		m := make([][]float32, height)
		for i := range m {
			m[i] = make([]float32, width)
			for j := range m[i] {
				m[i][j] = float32(i+1) / float32(j+2)
			}
		}
		return m
	}
	network := func() Network {
		return Network{Mean: matrix(1, ValueCount)[0], Deviation: matrix(1, ValueCount)[0],
			Linear: matrix(1, ValueCount)[0], QuestionSteps: matrix(2, 4), QuestionEnds: matrix(2, 4),
			StepMean: matrix(2, 4), StepFirst: matrix(2, 4), StepLast: matrix(2, 4), Profile: matrix(2, 4),
			StepScale: 1, EndScale: 1, Hidden: matrix(3, ValueCount+3), HiddenBias: []float32{1, 2, 3},
			Output: []float32{1, 2, 3}}
	}
	w := &Weights{Encoder: "letters", Dims: 4, Values: ValueNames[:], Networks: []Network{network(), network()},
		Temperature: 1, Relations: []uint64{HashRelation("a")},
		Provenance: Provenance{Questions: []string{"q"}, Date: "2026-01-02"}}
	change(w)
	return w
}

func pack(t testing.TB, w *Weights) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := w.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWeightsAreReadAsWritten(t *testing.T) {
	w := smallWeights(func(*Weights) {})
	read, err := Read(bytes.NewReader(pack(t, w)))
	if err != nil || !reflect.DeepEqual(read, w) {
		t.Errorf("read %+v, %v; want %+v", read, err, w)
	}
}

func TestWeightsThatCannotBeUsedAreRefused(t *testing.T) {
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		change func(*Weights, *Network)
		says   string
	}{
		"a value that is no number": {func(_ *Weights, n *Network) { n.Profile[1][2] = nan }, "profile"},
		"an infinite value":         {func(_ *Weights, n *Network) { n.Output[1] = float32(math.Inf(1)) }, "output"},
		"a matrix without a row": {func(_ *Weights, n *Network) { n.StepMean = n.StepMean[1:] },
			"step_mean: it has"},
		"a row that is too short": {func(_ *Weights, n *Network) { n.Hidden[0] = n.Hidden[0][1:] },
			"hidden: a row has"},
		"no units":   {func(_ *Weights, n *Network) { n.QuestionSteps = nil }, "it has 0 and 3 units"},
		"no network": {func(w *Weights, _ *Network) { w.Networks = nil }, "it has 0 networks"},
		"too many networks": {func(w *Weights, _ *Network) { w.Networks = make([]Network, 17) },
			"it has 17 networks"},
		"a scale that is no number": {func(w *Weights, _ *Network) { w.Networks[0].EndScale = nan }, "scales"},
		"no components":             {func(w *Weights, _ *Network) { w.Dims = 0 }, "vectors have 0 components"},
		"another number of values":  {func(w *Weights, _ *Network) { w.Values = w.Values[1:] }, "train it again"},
		"other values": {func(w *Weights, _ *Network) { w.Values = append([]string{"x"}, w.Values[1:]...) },
			`"x"`},
		"a deviation of 0": {func(_ *Weights, n *Network) { n.Deviation[0] = 0 },
			"deviation of words is 0"},
		"a temperature of 0": {func(w *Weights, _ *Network) { w.Temperature = 0 }, "temperature is 0"},
		"a temperature that is no number": {func(w *Weights, _ *Network) { w.Temperature = nan },
			"temperature is NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			w := smallWeights(func(w *Weights) { c.change(w, &w.Networks[1]) })
			if err := w.Check(); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if _, err := Read(bytes.NewReader(pack(t, w))); err == nil {
				t.Error("they were read")
			}
			if _, err := New(w); err == nil {
				t.Error("they became a ranker")
			}
		})
	}
}

func TestAScoreIsTheMeanOfTheNetworks(t *testing.T) {
	v := []float32{1, 0, 0, 0}
	q := &Question{Vector: v, Relations: []Relation{{"a", v}}, Paths: []Path{{Steps: []int{0}}}}
	score := func(change func(*Weights)) float64 {
		t.Helper()
		scores, err := smallWeights(change).Scores(q)
		if err != nil {
			t.Fatal(err)
		}
		return scores[0]
	}
	differ := func(w *Weights) { w.Networks[1].StepScale = 3 }
	both := score(differ)
	first := score(func(w *Weights) { differ(w); w.Networks = w.Networks[:1] })
	second := score(func(w *Weights) { differ(w); w.Networks = w.Networks[1:] })
	if first == second || math.Abs(both-(first+second)/2) > 1e-6 {
		t.Errorf("scores %g and %g, together %g", first, second, both)
	}
}

func TestEveryFlippedByteAndCutIsFound(t *testing.T) {
	whole := pack(t, smallWeights(func(*Weights) {}))
	for i := range whole {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1
		if _, err := Read(bytes.NewReader(flipped)); !errors.Is(err, ErrFormat) && !errors.Is(err, ErrChecksum) {
			t.Errorf("byte %d: %v", i, err)
		}
		if _, err := Read(bytes.NewReader(whole[:i])); !errors.Is(err, ErrFormat) && !errors.Is(err, ErrChecksum) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
}

// seal packs encoded weights into a file.
func seal(t testing.TB, encoded []byte) []byte {
	t.Helper()
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, err := zip.Write(encoded)
	if err := errors.Join(err, zip.Close()); err != nil {
		t.Fatal(err)
	}
	packed := zipped.Bytes()
	sum := sha256.Sum256(packed)
	return slices.Concat([]byte(magic), sum[:], packed)
}

// FuzzRead finds files that are read as a ranker that then panics. The checksum is made to match,
// since it protects from damage and not from people.
func FuzzRead(f *testing.F) {
	var whole bytes.Buffer
	if err := gob.NewEncoder(&whole).Encode(smallWeights(func(*Weights) {})); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, encoded []byte) {
		w, err := Read(bytes.NewReader(seal(t, encoded)))
		if err != nil {
			return
		}
		r, err := New(w)
		if err != nil {
			t.Fatalf("read, and refused: %v", err)
		}
		v := make([]float32, w.Dims)
		q := &Question{Vector: v, Relations: []Relation{{"a", v}}, Paths: []Path{{Steps: []int{0}}, {Steps: []int{0, 0},
			Profile: []Share{{0, .5}}}}}
		p, err := r.Probabilities(q)
		if err != nil || len(p) != 2 {
			t.Errorf("got %v, %v", p, err)
		}
	})
}
