package llm_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
)

func TestAutoReaderGoesByTheSizeInTheName(t *testing.T) {
	for model, want := range map[string]string{
		"qwen2.5-coder-1.5b-instruct-q4_k_m": llm.WeakReader,
		"Qwen/Qwen2.5-3B-Instruct":           llm.WeakReader,
		"llama3.2:1b":                        llm.WeakReader,
		"gemma-3-4b-it":                      llm.WeakReader,
		"qwen2.5:7b-instruct":                llm.StrongReader,
		"meta-llama/Llama-3.1-70B-Instruct":  llm.StrongReader,
		"qwen3-30b-a3b":                      llm.StrongReader,
		"gpt-4o-mini":                        llm.StrongReader,
		"claude-3b2":                         llm.StrongReader,
		"phi-2.7billion":                     llm.StrongReader,
		"":                                   llm.StrongReader,
		"999999999999999999999999999999999b": llm.StrongReader,
		"mixtral-8x7b":                       llm.StrongReader,
		"smollm2-0.36b":                      llm.WeakReader,
	} {
		if got := (llm.Config{Model: model, Reader: llm.AutoReader}).ResolveReader(); got != want {
			t.Errorf("%q reads as %s, want %s", model, got, want)
		}
	}
	for _, set := range []string{llm.WeakReader, llm.StrongReader} {
		if got := (llm.Config{Model: "m-1b", Reader: set}).ResolveReader(); got != set {
			t.Errorf("set to %s it reads as %s", set, got)
		}
	}
}

func TestAReaderIsKnownToBeStrongIfItIsSetAndNoOtherModelIsAsked(t *testing.T) {
	for _, c := range []struct {
		name              string
		reader, asked     string
		set, share, known float32
	}{
		{"set to be strong", llm.StrongReader, "", 0, 0.85, 0.85},
		{"set to be strong, with its share", llm.StrongReader, "", 0.95, 0.95, 0.95},
		{"set to be strong, and named by the caller", llm.StrongReader, "m-70b", 0, 0.85, 0.85},
		{"set to be strong, but the caller names another", llm.StrongReader, "m-1b", 0.95, 0.95, 0.2},
		{"strong by its name", llm.AutoReader, "", 0, 0.85, 0.2},
		{"set to be weak", llm.WeakReader, "", 0.95, 0.2, 0.2},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := llm.Config{Model: "m-70b", Reader: c.reader, ReadingShare: c.set}
			share, known := cfg.ResolveReadingShare(), cfg.KnownReadingShare(c.asked)
			if share != c.share || known != c.known {
				t.Errorf("got shares of %g and %g, want %g and %g", share, known, c.share, c.known)
			}
		})
	}
}
