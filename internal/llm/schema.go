package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// jsonSchema is the part of JSON Schema that shapes a model's answer. Other keywords, and properties
// that the schema does not name, are accepted. The zero value accepts anything.
type jsonSchema struct {
	Type                 typeList               `json:"type"`
	Properties           map[string]*jsonSchema `json:"properties"`
	Required             []string               `json:"required"`
	AdditionalProperties json.RawMessage        `json:"additionalProperties"`
	Items                *jsonSchema            `json:"items"`
	MinItems             int                    `json:"minItems"`
	Enum                 []json.RawMessage      `json:"enum"`
	AnyOf                []*jsonSchema          `json:"anyOf"`
}

// typeList is one type or a list of types.
type typeList []string

// UnmarshalJSON accepts "object" and ["object", "null"].
func (k *typeList) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*[]string)(k))
	}
	*k = typeList{""}
	return json.Unmarshal(data, &(*k)[0])
}

func parseSchema(data json.RawMessage) (*jsonSchema, error) {
	var s jsonSchema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("parse JSON schema: %w", err)
	}
	return &s, nil
}

// openingBracket returns the bracket that values of this schema begin with, or 0 if they may begin
// with something else.
func (s *jsonSchema) openingBracket() byte {
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

// check returns an error for the first place at which a JSON value does not fit the schema.
func (s *jsonSchema) check(value json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return s.checkValue("", v)
}

func (s *jsonSchema) checkValue(path string, v any) error {
	if s == nil {
		return nil
	}
	if got := jsonType(v); len(s.Type) > 0 && !slices.Contains(s.Type, got) &&
		!(got == "integer" && slices.Contains(s.Type, "number")) {
		return fmt.Errorf("%s is %s, want %s", answerPath(path), got, strings.Join(s.Type, " or "))
	}
	if len(s.Enum) > 0 && !s.allows(v) {
		return fmt.Errorf("%s is not one of the values allowed", answerPath(path))
	}
	if len(s.AnyOf) > 0 {
		var errs []error
		for _, a := range s.AnyOf {
			errs = append(errs, a.checkValue(path, v))
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

func (s *jsonSchema) checkObject(path string, v map[string]any) error {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Errorf("%s lacks the key %q", answerPath(path), name)
		}
	}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if inner, ok := v[name]; ok {
			if err := s.Properties[name].checkValue(strings.TrimPrefix(path+"."+name, "."), inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *jsonSchema) checkArray(path string, v []any) error {
	if len(v) < s.MinItems {
		return fmt.Errorf("%s has %d elements, want at least %d", answerPath(path), len(v), s.MinItems)
	}
	for i, inner := range v {
		if err := s.Items.checkValue(fmt.Sprintf("%s[%d]", path, i), inner); err != nil {
			return err
		}
	}
	return nil
}

func (s *jsonSchema) allows(v any) bool {
	got, err := json.Marshal(v)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(s.Enum, func(e json.RawMessage) bool {
		// Encode both sides the same way, so that only the values are compared.
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

// strict reports whether OpenAI's strict mode accepts the schema: every object is closed and all of
// its properties are required.
func (s *jsonSchema) strict() bool {
	if s == nil {
		return true
	}
	if slices.Contains(s.Type, "object") {
		if string(s.AdditionalProperties) != "false" || len(s.Required) != len(s.Properties) {
			return false
		}
	}
	for _, p := range s.Properties {
		if !p.strict() {
			return false
		}
	}
	return s.Items.strict() && !slices.ContainsFunc(s.AnyOf, func(a *jsonSchema) bool { return !a.strict() })
}

func jsonType(v any) string {
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

func answerPath(path string) string {
	if path == "" {
		return "the answer"
	}
	return path
}
