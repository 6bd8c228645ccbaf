//go:build !cgo

package onnx

import (
	"strings"
	"testing"
)

func TestWithoutCgoTheErrorNamesTheEncoderThatNeedsNone(t *testing.T) {
	_, err := New(Config{})
	if err == nil || !strings.Contains(err.Error(), "retriever.encoder.kind to int8") {
		t.Errorf("error %v", err)
	}
}
