package rank

import (
	"bytes"
	_ "embed" // the weights
)

//go:embed shipped.rank
var shipped []byte

// shippedTwin names the encoder whose vectors are those that the shipped ranker was trained on but for
// rounding (docs/adr/0010-encoder.md).
const shippedTwin = "all-MiniLM-L6-v2-int8@c9d12c51"

// ReadsShipped reports whether the vectors of an encoder are like those that a shipped ranker was
// trained on.
func ReadsShipped(shipped *Ranker, encoder string) bool {
	return encoder == shipped.weights.Encoder || encoder == shippedTwin
}

// Shipped returns the ranker that comes with triplemesh. It knows the relations of the question sets
// it was trained on; docs/training.md has the command.
func Shipped() (*Ranker, error) {
	w, err := Read(bytes.NewReader(shipped))
	if err != nil {
		return nil, err
	}
	return New(w)
}
