package rank

import (
	"bytes"
	_ "embed" // the weights
	"slices"
)

//go:embed shipped.rank
var shipped []byte

// twinEncoders names encoders of one model, whose vectors are the same but for rounding
// (docs/adr/0010-encoder.md): a ranker trained on those of one ranks paths by those of the other.
var twinEncoders = []string{"all-MiniLM-L6-v2@d158a123", "all-MiniLM-L6-v2-int8@c9d12c51"}

// ReadsShipped reports whether the vectors of an encoder are like those that a shipped ranker was
// trained on.
func ReadsShipped(shipped *Ranker, encoder string) bool {
	trained := shipped.weights.Encoder
	return encoder == trained || slices.Contains(twinEncoders, encoder) && slices.Contains(twinEncoders, trained)
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
