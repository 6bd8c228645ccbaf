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
