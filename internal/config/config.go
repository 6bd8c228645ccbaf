// Package config reads a stage's configuration in layers: flags over the
// environment over a file over defaults. One file serves all stages.
package config

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// stages are the sections of the file that belong to one service each.
// "triplemesh" is the binary that a person uses.
var stages = []string{"generator", "retriever", "verifier", "evaluator", "reflector", "orchestrator", "triplemesh"}

// shared are the sections that hold for every stage that has them, unless its
// own section says otherwise.
var shared = []string{"llm", "telemetry", "server"}

// Sources are where settings come from, beside the defaults.
type Sources struct {
	// File is the path of a YAML file; empty for none.
	File string
	// Env holds KEY=value pairs as os.Environ has them: TRIPLEMESH_LLM_MODEL
	// for every stage, TRIPLEMESH_VERIFIER_LLM_MODEL for one; OPENAI_BASE_URL
	// and OPENAI_API_KEY below those. Empty values count as not set.
	Env []string
	// Set holds values by dotted key, from flags: "llm.model", or
	// "verifier.llm.model", which wins. Keys of other stages are passed over.
	Set map[string]string
}

// Load puts the configuration of a stage together from its defaults and the
// sources, and checks it. C is a struct whose fields have koanf tags; fields
// tagged "-" are left alone. Lists and maps are replaced whole. The error names
// the layer, the key and the value, and for an unknown key the nearest known
// one.
func Load[C any](stage string, defaults C, src Sources) (C, error) {
	l, err := load(stage, reflect.ValueOf(&defaults).Elem(), src)
	if err == nil {
		err = l.validate()
	}
	if err != nil {
		return defaults, fmt.Errorf("configuration of %s: %w", stage, err)
	}
	return defaults, nil
}

// Print writes the configuration that Load would return as YAML, each value
// with the layer it comes from, secrets hidden. What is printed is a valid
// file. The error is that of Load; what fails the last check is printed all the
// same.
func Print[C any](w io.Writer, stage string, defaults C, src Sources) error {
	l, err := load(stage, reflect.ValueOf(&defaults).Elem(), src)
	if err == nil {
		if err = l.print(w); err == nil {
			err = l.validate()
		}
	}
	if err != nil {
		return fmt.Errorf("configuration of %s: %w", stage, err)
	}
	return nil
}

// loading is one configuration being put together.
type loading struct {
	stage    string
	root     reflect.Value
	settings []setting
	origin   map[string]string // the layer of each key that is no default
}

func load(stage string, root reflect.Value, src Sources) (*loading, error) {
	if root.Kind() != reflect.Struct {
		return nil, fmt.Errorf("want a struct, got %s", root.Type())
	}
	l := &loading{stage: stage, root: root, settings: settingsOf(root, ""), origin: map[string]string{}}
	// Lowest first: each layer writes over those before it.
	if err := l.readFile(src.File); err != nil {
		return nil, err
	}
	if err := l.readEnv(src.Env); err != nil {
		return nil, err
	}
	if err := l.readFlags(src.Set); err != nil {
		return nil, err
	}
	return l, nil
}

// find is the setting of a key; nil where there is none.
func (l *loading) find(key string) *setting {
	i := slices.IndexFunc(l.settings, func(s setting) bool { return s.key == key })
	if i < 0 {
		return nil
	}
	return &l.settings[i]
}

// hasSection tells whether a key is the beginning of others.
func (l *loading) hasSection(key string) bool {
	return slices.ContainsFunc(l.settings, func(s setting) bool { return strings.HasPrefix(s.key, key+".") })
}

// keys are all keys, each after prefix.
func (l *loading) keys(prefix string) []string {
	keys := make([]string, len(l.settings))
	for i, s := range l.settings {
		keys[i] = prefix + s.key
	}
	return keys
}

// isShared tells whether a key lies in a shared section.
func isShared(key string) bool {
	section, _, nested := strings.Cut(key, ".")
	return nested && slices.Contains(shared, section)
}
