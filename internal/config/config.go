// Package config reads a stage's configuration in layers: flags over the
// environment over a file over defaults. One file serves all stages.
package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// stages are the sections of the file that belong to one service each.
// "triplemesh" is the binary that a person uses.
var stages = []string{"generator", "retriever", "verifier", "evaluator", "reflector", "orchestrator", "triplemesh"}

// sharedSections are the sections that hold for every stage that has them, unless its
// own section says otherwise.
var sharedSections = []string{"llm", "telemetry", "server"}

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

// Load puts the configuration of a stage together from its defaults and the sources, and checks it.
// C is a struct whose fields have koanf tags; fields tagged "-" are left alone. Lists and maps are
// replaced whole. The error names the layer, the key and the value, and for an unknown key the
// nearest known one.
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

// Print writes the configuration that Load would return as YAML, each value with the layer it comes
// from, secrets hidden. What is printed is a valid file. The error is that of Load; what fails the
// last check is printed all the same.
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
	l := &loading{stage: stage, root: root, settings: listSettings(root, ""), origin: map[string]string{}}
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

// hasSection reports whether a key is a prefix of others.
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

func isShared(key string) bool {
	section, _, nested := strings.Cut(key, ".")
	return nested && slices.Contains(sharedSections, section)
}

// validate asks every part of the configuration that can say so whether it is
// usable, inner parts first, and names the part.
func (l *loading) validate() error { return validateValue(l.root, "") }

func validateValue(v reflect.Value, key string) error {
	var errs []error
	switch v.Kind() {
	case reflect.Struct:
		if isText(v.Type()) {
			return nil
		}
		for i := range v.NumField() {
			if name, inline, ok := fieldKey(v.Type().Field(i)); ok && !inline {
				errs = append(errs, validateValue(v.Field(i), join(key, name)))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			errs = append(errs, validateValue(v.Index(i), fmt.Sprintf("%s[%d]", key, i)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err // Validate may assume that the fields are valid
	}
	checked, ok := v.Addr().Interface().(interface{ Validate() error })
	if !ok {
		return nil
	}
	err := checked.Validate()
	if err != nil && key != "" {
		return fmt.Errorf("%s: %w", key, err)
	}
	return err
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// readFlags takes values by key: those for every stage, then the stage's own.
func (l *loading) readFlags(set map[string]string) error {
	own := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		switch first, rest, _ := strings.Cut(key, "."); {
		case l.find(key) != nil:
			if err := l.setFlag(key, key, set[key]); err != nil {
				return err
			}
		case first == l.stage:
			own[key] = rest
		case slices.Contains(stages, first) || slices.Contains(sharedSections, first) && !l.hasSection(first):
		default:
			return fmt.Errorf("flag --%s: %w", key, unknownKey(key, l.keys("")))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		if l.find(own[key]) == nil {
			return fmt.Errorf("flag --%s: %w", key, unknownKey(key, l.keys(l.stage+".")))
		}
		if err := l.setFlag(key, own[key], set[key]); err != nil {
			return err
		}
	}
	return nil
}

func (l *loading) setFlag(flag, key, text string) error {
	if err := decodeText(text, l.find(key).value, key); err != nil {
		return fmt.Errorf("flag --%s: %w", flag, err)
	}
	l.origin[key] = "flag --" + flag
	return nil
}

// openAIVariables are the variables that clients of OpenAI's API share, by our keys.
var openAIVariables = map[string]string{"llm.base_url": "OPENAI_BASE_URL", "llm.api_key": "OPENAI_API_KEY"}

// readEnv takes the variables that name a setting. Unknown ones are no error:
// Kubernetes makes variables such as TRIPLEMESH_VERIFIER_PORT of its own.
func (l *loading) readEnv(env []string) error {
	vars := map[string]string{}
	for _, pair := range env {
		if name, value, ok := strings.Cut(pair, "="); ok && value != "" {
			vars[name] = value
		}
	}
	for _, s := range l.settings {
		names := []string{openAIVariables[s.key]}
		if isShared(s.key) {
			names = append(names, envName(s.key))
		}
		for _, name := range append(names, envName(l.stage+"."+s.key)) {
			value, ok := vars[name]
			if !ok {
				continue
			}
			if err := decodeText(value, s.value, s.key); err != nil {
				return fmt.Errorf("environment: %s: %w", name, err)
			}
			l.origin[s.key] = "environment " + name
		}
	}
	return nil
}

// envName is the variable of a dotted key.
func envName(key string) string {
	return "TRIPLEMESH_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}
