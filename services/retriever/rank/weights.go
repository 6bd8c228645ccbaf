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

// Weights are what training finds.
type Weights struct {
	// Encoder names the encoder of the vectors, Dims is their length.
	Encoder string
	Dims    int
	// Values are the names of the values, ValueNames at the time of training.
	Values []string
	// Networks are trained alike from different beginnings. The mean of their scores ranks better
	// than any one of them.
	Networks []Network
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

// Bounds on weights from a file.
const (
	maxDims     = 8192
	maxUnits    = 4096
	maxNetworks = 16
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
	if len(w.Networks) == 0 || len(w.Networks) > maxNetworks {
		return fmt.Errorf("it has %d networks; want 1 to %d", len(w.Networks), maxNetworks)
	}
	for i := range w.Networks {
		if err := w.Networks[i].check(w.Dims); err != nil {
			return fmt.Errorf("network %d: %w", i+1, err)
		}
	}
	if !(w.Temperature > 0) || math.IsInf(float64(w.Temperature), 0) {
		return fmt.Errorf("temperature is %g; want a number above 0", w.Temperature)
	}
	return nil
}

// check returns an error if the network cannot be used with vectors of a number of components.
func (n *Network) check(dims int) error {
	units := len(n.QuestionSteps)
	if units == 0 || units > maxUnits || len(n.Hidden) > maxUnits {
		return fmt.Errorf("it has %d and %d units; want 1 to %d", units, len(n.Hidden), maxUnits)
	}
	for _, m := range []struct {
		name          string
		rows          [][]float32
		height, width int
	}{
		{"question_steps", n.QuestionSteps, units, dims}, {"question_ends", n.QuestionEnds, units, dims},
		{"step_mean", n.StepMean, units, dims}, {"step_first", n.StepFirst, units, dims},
		{"step_last", n.StepLast, units, dims}, {"profile", n.Profile, units, dims},
		{"hidden", n.Hidden, len(n.Hidden), InputCount},
		{"hidden_bias", [][]float32{n.HiddenBias}, 1, len(n.Hidden)},
		{"output", [][]float32{n.Output}, 1, len(n.Hidden)},
		{"mean", [][]float32{n.Mean}, 1, ValueCount}, {"deviation", [][]float32{n.Deviation}, 1, ValueCount},
		{"linear", [][]float32{n.Linear}, 1, ValueCount},
		{"scales", [][]float32{{n.StepScale, n.EndScale}}, 1, 2},
	} {
		if err := checkMatrix(m.rows, m.height, m.width); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	for i, d := range n.Deviation {
		if d <= 0 {
			return fmt.Errorf("deviation of %s is %g; want more than 0", ValueNames[i], d)
		}
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
const magic = "triplemesh ranker 3\n"

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
