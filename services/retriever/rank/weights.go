package rank

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
)

// Weights are what training finds. Matrices are lists of rows, of Dims values each.
type Weights struct {
	// Encoder names the encoder of the vectors, Dims is their length.
	Encoder string
	Dims    int
	// Values are the names of the values, ValueNames at the time of training.
	Values []string
	// Mean and Deviation normalise the values.
	Mean, Deviation []float32
	// Linear weighs the normalised values.
	Linear []float32
	// QuestionSteps and QuestionEnds project the question; StepMean, StepFirst and StepLast the
	// relations of a path; Profile those around its ends.
	QuestionSteps, QuestionEnds, StepMean, StepFirst, StepLast, Profile [][]float32
	// StepScale and EndScale weigh both products.
	StepScale, EndScale float32
	// Hidden has a row of ValueCount + 3 for each unit.
	Hidden             [][]float32
	HiddenBias, Output []float32
	// Temperature divides the scores so that their softmax is calibrated.
	Temperature float32
	// Relations are the hashes of the relations that paths in training had.
	Relations []uint64
	// Provenance says what the weights were trained on.
	Provenance Provenance
}

// Provenance describes the training of weights.
type Provenance struct {
	// Questions are the question sets, Graphs the knowledge graphs as name@snapshot.
	Questions []string `json:"questions"`
	Graphs    []string `json:"graphs"`
	// Trained and Held are the numbers of questions trained and evaluated on.
	Trained int `json:"trained"`
	Held    int `json:"held"`
	// First is the share of held questions whose first path leads to an answer; FirstBefore that of
	// the ranking without these weights.
	First       float64 `json:"first"`
	FirstBefore float64 `json:"first_before"`
	// Date is the day of training, ISO 8601.
	Date string `json:"date"`
}

// maxDims and maxUnits bound weights from a file.
const (
	maxDims  = 8192
	maxUnits = 4096
	// maxBytes is the maximum size of weights, packed and unpacked: 10 times those for vectors of 1024
	// components. A list of empty lists takes 24 times its size in memory.
	maxBytes = 16 << 20
)

// HashRelation hashes a relation's name as Weights.Relations does.
func HashRelation(name string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, name)
	return h.Sum64()
}

// Check returns an error if the weights cannot be used.
func (w *Weights) Check() error {
	if w.Dims < 1 || w.Dims > maxDims {
		return fmt.Errorf("vectors have %d components; want 1 to %d", w.Dims, maxDims)
	}
	if len(w.Values) != ValueCount {
		return fmt.Errorf("it reads %d values of a path, this version has %d; train it again", len(w.Values),
			ValueCount)
	}
	for i, name := range w.Values {
		if name != ValueNames[i] {
			return fmt.Errorf("it reads the value %q, this version has %q there; train it again", name, ValueNames[i])
		}
	}
	units := len(w.QuestionSteps)
	if units == 0 || units > maxUnits || len(w.Hidden) > maxUnits {
		return fmt.Errorf("it has %d and %d units; want 1 to %d", units, len(w.Hidden), maxUnits)
	}
	for _, m := range []struct {
		name          string
		rows          [][]float32
		height, width int
	}{
		{"question_steps", w.QuestionSteps, units, w.Dims}, {"question_ends", w.QuestionEnds, units, w.Dims},
		{"step_mean", w.StepMean, units, w.Dims}, {"step_first", w.StepFirst, units, w.Dims},
		{"step_last", w.StepLast, units, w.Dims}, {"profile", w.Profile, units, w.Dims},
		{"hidden", w.Hidden, len(w.Hidden), InputCount},
		{"hidden_bias", [][]float32{w.HiddenBias}, 1, len(w.Hidden)},
		{"output", [][]float32{w.Output}, 1, len(w.Hidden)},
		{"mean", [][]float32{w.Mean}, 1, ValueCount}, {"deviation", [][]float32{w.Deviation}, 1, ValueCount},
		{"linear", [][]float32{w.Linear}, 1, ValueCount},
		{"scales", [][]float32{{w.StepScale, w.EndScale, w.Temperature}}, 1, 3},
	} {
		if err := checkMatrix(m.rows, m.height, m.width); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	for i, d := range w.Deviation {
		if d <= 0 {
			return fmt.Errorf("deviation of %s is %g; want more than 0", ValueNames[i], d)
		}
	}
	if w.Temperature <= 0 {
		return fmt.Errorf("temperature is %g; want more than 0", w.Temperature)
	}
	return nil
}

func checkMatrix(rows [][]float32, height, width int) error {
	if len(rows) != height {
		return fmt.Errorf("it has %d rows; want %d", len(rows), height)
	}
	for _, row := range rows {
		if len(row) != width {
			return fmt.Errorf("a row has %d values; want %d", len(row), width)
		}
		for _, v := range row {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return errors.New("a value is no number")
			}
		}
	}
	return nil
}

// magic starts a file of weights.
const magic = "triplemesh ranker 1\n"

// Write writes weights: a line that names the format, the SHA-256 of what follows, and the weights.
func (w *Weights) Write(to io.Writer) error {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if err := errors.Join(gob.NewEncoder(zip).Encode(w), zip.Close()); err != nil {
		return fmt.Errorf("write the ranker: %w", err)
	}
	sum := sha256.Sum256(packed.Bytes())
	for _, part := range [][]byte{[]byte(magic), sum[:], packed.Bytes()} {
		if _, err := to.Write(part); err != nil {
			return fmt.Errorf("write the ranker: %w", err)
		}
	}
	return nil
}

// Errors of Read.
var (
	ErrFormat   = errors.New("no ranker of this version")
	ErrChecksum = errors.New("checksum mismatch")
)

// Read reads and checks weights.
func Read(from io.Reader) (*Weights, error) {
	b, err := io.ReadAll(io.LimitReader(from, maxBytes))
	if err != nil {
		return nil, fmt.Errorf("read the ranker: %w", err)
	}
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok || len(rest) < sha256.Size {
		return nil, fmt.Errorf("read the ranker: %w", ErrFormat)
	}
	packed := rest[sha256.Size:]
	if sum := sha256.Sum256(packed); !bytes.Equal(sum[:], rest[:sha256.Size]) {
		return nil, fmt.Errorf("read the ranker: %w; copy or train it again", ErrChecksum)
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("read the ranker: %w", err)
	}
	w := &Weights{}
	if err := gob.NewDecoder(io.LimitReader(zip, maxBytes)).Decode(w); err != nil {
		return nil, fmt.Errorf("read the ranker: %w", err)
	}
	if err := w.Check(); err != nil {
		return nil, fmt.Errorf("read the ranker: %w", err)
	}
	return w, nil
}
