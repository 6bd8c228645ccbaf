// Package onnx encodes texts in process: a sentence-transformers model such as
// all-MiniLM-L6-v2, run by ONNX Runtime.
package onnx

// Config names the files that `triplemesh setup` downloads.
type Config struct {
	// Library is ONNX Runtime's shared library.
	Library string
	// Model is the ONNX file: a BERT with the output last_hidden_state, before pooling.
	Model string
	// Vocabulary is the model's vocab.txt.
	Vocabulary string
	// Name is the model's name. A part of the files' checksum is appended, because vectors of two
	// exports of a model do not mix.
	Name string
	// Threads is the number of batches that are encoded at once, each on one core; 0 means all
	// cores.
	Threads int
}
