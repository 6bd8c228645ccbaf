package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

//go:embed script.yaml
var builtIn []byte

// rule maps requests to a response.
type rule struct {
	// Task of the llm.Request; empty matches any.
	Task string `yaml:"task"`
	// Has are texts that the last user message must contain.
	Has []string `yaml:"has"`
	// The response is one of these: a text, a value as JSON, one-token texts with their
	// probabilities, or an HTTP status.
	Reply  string             `yaml:"reply"`
	JSON   any                `yaml:"json"`
	Choice map[string]float64 `yaml:"choice"`
	Status int                `yaml:"status"`
	// Slow is the extra latency of this answer.
	Slow time.Duration `yaml:"slow"`
}

// scripted starts a model that answers by the rules of a file and then the built-in ones. The
// caller must kill it.
func scripted(file string, latency time.Duration) (*testkit.LLM, error) {
	model := testkit.NewLLM(testkit.Process{})
	err := add(model, "script.yaml", builtIn, latency)
	if err == nil && file != "" {
		err = addFile(model, file, latency)
	}
	if err != nil {
		model.Kill()
		return nil, err
	}
	return model, nil
}

func addFile(model *testkit.LLM, file string, latency time.Duration) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the script: %w", err)
	}
	return add(model, file, text, latency)
}

func add(model *testkit.LLM, file string, text []byte, latency time.Duration) error {
	var rules []rule
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&rules); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the script %s: %w", file, err)
	}
	for i, r := range rules {
		if err := r.add(model, latency); err != nil {
			return fmt.Errorf("read the script %s: rule %d: %w", file, i+1, err)
		}
	}
	return nil
}

func (r rule) add(model *testkit.LLM, latency time.Duration) error {
	rule := model.On(func(req testkit.Request) bool {
		if r.Task != "" && r.Task != req.Task {
			return false
		}
		for _, text := range r.Has {
			if !strings.Contains(req.LastUser(), text) {
				return false
			}
		}
		return true
	})
	switch {
	case r.Status != 0:
		rule.Status(r.Status)
	case r.JSON != nil:
		rule.ReplyJSON(r.JSON)
	case len(r.Choice) > 0:
		rule.ReplyChoice(r.Choice)
	case r.Reply != "":
		rule.Reply(r.Reply)
	default:
		return errors.New("no response; set reply, json, choice or status")
	}
	if delay := latency + r.Slow; delay > 0 {
		rule.Slow(delay)
	}
	return nil
}
