//go:build !cgo

package onnx

import (
	"errors"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
)

// Supported reports whether this program can load ONNX Runtime.
const Supported = false

// Encoder has no values in programs that are built without cgo, which ONNX Runtime needs.
type Encoder struct{ encoder.Encoder }

// errNoCgo is returned by New in programs that are built without cgo.
var errNoCgo = errors.New("this program was built without cgo and cannot load ONNX Runtime; " +
	"set retriever.encoder.kind to int8, or build it where a C compiler is installed")

// New returns an error.
func New(Config) (*Encoder, error) { return nil, errNoCgo }

// Close returns nil.
func (*Encoder) Close() error { return nil }
