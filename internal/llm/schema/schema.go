// Package schema checks values against the part of JSON Schema that shapes a
// model's answer: type, properties, required, items, minItems, enum and anyOf.
// Other keywords, and properties that the schema does not name, are let pass.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Schema is a parsed schema; the zero value takes anything.
type Schema struct {
	Type                 kinds              `json:"type"`
	Properties           map[string]*Schema `json:"properties"`
	Required             []string           `json:"required"`
	AdditionalProperties json.RawMessage    `json:"additionalProperties"`
	Items                *Schema            `json:"items"`
	MinItems             int                `json:"minItems"`
	Enum                 []json.RawMessage  `json:"enum"`
	AnyOf                []*Schema          `json:"anyOf"`
}

// kinds is a type or a list of them.
type kinds []string

// UnmarshalJSON takes "object" and ["object", "null"].
func (k *kinds) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*[]string)(k))
	}
	*k = kinds{""}
	return json.Unmarshal(data, &(*k)[0])
}

// Parse reads a schema.
func Parse(data json.RawMessage) (*Schema, error) {
	var s Schema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("parse JSON schema: %w", err)
	}
	return &s, nil
}

// Open is the bracket that values of this schema begin with, 0 if others may.
func (s *Schema) Open() byte {
	if len(s.Type) == 1 {
		switch s.Type[0] {
		case "object":
			return '{'
		case "array":
			return '['
		}
	}
	return 0
}

// Check reports the first place where a JSON value does not fit.
func (s *Schema) Check(value json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return s.check("", v)
}

func (s *Schema) check(path string, v any) error {
	if s == nil {
		return nil
	}
	if got := kindOf(v); len(s.Type) > 0 && !slices.Contains(s.Type, got) && !(got == "integer" && slices.Contains(s.Type, "number")) {
		return fmt.Errorf("%s is %s, want %s", at(path), got, strings.Join(s.Type, " or "))
	}
	if len(s.Enum) > 0 && !s.allows(v) {
		return fmt.Errorf("%s is not one of the values allowed", at(path))
	}
	if len(s.AnyOf) > 0 {
		var errs []error
		for _, a := range s.AnyOf {
			errs = append(errs, a.check(path, v))
		}
		if !slices.Contains(errs, nil) {
			return errors.Join(errs...)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return s.checkObject(path, v)
	case []any:
		return s.checkArray(path, v)
	}
	return nil
}

func (s *Schema) checkObject(path string, v map[string]any) error {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Errorf("%s lacks the key %q", at(path), name)
		}
	}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if inner, ok := v[name]; ok {
			if err := s.Properties[name].check(strings.TrimPrefix(path+"."+name, "."), inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Schema) checkArray(path string, v []any) error {
	if len(v) < s.MinItems {
		return fmt.Errorf("%s has %d elements, want at least %d", at(path), len(v), s.MinItems)
	}
	for i, inner := range v {
		if err := s.Items.check(fmt.Sprintf("%s[%d]", path, i), inner); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) allows(v any) bool {
	got, err := json.Marshal(v)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(s.Enum, func(e json.RawMessage) bool {
		// Both sides through the same encoder, so that only the values count.
		var w any
		dec := json.NewDecoder(bytes.NewReader(e))
		dec.UseNumber()
		if dec.Decode(&w) != nil {
			return false
		}
		want, err := json.Marshal(w)
		return err == nil && bytes.Equal(got, want)
	})
}

// Strict tells whether OpenAI's strict mode takes the schema: every object
// closed and all of its properties required.
func (s *Schema) Strict() bool {
	if s == nil {
		return true
	}
	if slices.Contains(s.Type, "object") {
		if string(s.AdditionalProperties) != "false" || len(s.Required) != len(s.Properties) {
			return false
		}
	}
	for _, p := range s.Properties {
		if !p.Strict() {
			return false
		}
	}
	return s.Items.Strict() && !slices.ContainsFunc(s.AnyOf, func(a *Schema) bool { return !a.Strict() })
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "number"
		}
		return "integer"
	case []any:
		return "array"
	default:
		return "object"
	}
}

func at(path string) string {
	if path == "" {
		return "the answer"
	}
	return path
}
