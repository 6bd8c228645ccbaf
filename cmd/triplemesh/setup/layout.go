package setup

import "path/filepath"

// Layout names the files that setup makes below a cache directory.
type Layout struct {
	// Cache is the directory; an absolute path.
	Cache string
}

// EncoderModel is the ONNX file of all-MiniLM-L6-v2.
func (l Layout) EncoderModel() string { return filepath.Join(l.Cache, "encoder", "model.onnx") }

// EncoderVocab is the encoder's WordPiece vocabulary.
func (l Layout) EncoderVocab() string { return filepath.Join(l.Cache, "encoder", "vocab.txt") }

// Runtime is the shared library of ONNX Runtime.
func (l Layout) Runtime() string {
	return filepath.Join(l.Cache, "onnxruntime", "libonnxruntime.so")
}

// Model is the language model in GGUF.
func (l Layout) Model() string {
	return filepath.Join(l.Cache, "model", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf")
}

// Server is the llama-server that setup built.
func (l Layout) Server() string { return filepath.Join(l.Cache, "llama", "llama-server") }

func (l Layout) downloads() string   { return filepath.Join(l.Cache, "downloads") }
func (l Layout) lock() string        { return filepath.Join(l.Cache, "setup.lock") }
func (l Layout) serverDir() string   { return filepath.Join(l.Cache, "llama") }
func (l Layout) serverStamp() string { return l.Server() + ".json" }
