package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm/schema"
)

const edits = `{"type":"object","required":["edits"],"properties":{
	"note": {"type": ["string", "null"]},
	"score": {"type": "number"},
	"target": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
	"edits": {"type":"array","minItems":1,"items":{"type":"object","required":["kind"],"properties":{
		"kind":{"enum":["keep","replace"]}, "evidence":{"type":"integer","enum":[1,2]}, "sure":{"type":"boolean"}}}}}}`

func TestCheck(t *testing.T) {
	s, err := schema.Parse(json.RawMessage(edits))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, value, says string }{
		{"fits", `{"edits":[{"kind":"keep","evidence":2,"sure":true}],"note":null,"score":1,"target":"x"}`, ""},
		{"fits with keys of its own", `{"edits":[{"kind":"keep","why":"so"}],"more":1}`, ""},
		{"a number may be whole or not", `{"edits":[{"kind":"keep"}],"score":0.5}`, ""},
		{"a key is missing", `{}`, `the answer lacks the key "edits"`},
		{"a key inside is missing", `{"edits":[{"kind":"keep"},{}]}`, `edits[1] lacks the key "kind"`},
		{"too few", `{"edits":[]}`, "edits has 0 elements, want at least 1"},
		{"not allowed", `{"edits":[{"kind":"burn"}]}`, "edits[0].kind is not one of"},
		{"a number not allowed", `{"edits":[{"kind":"keep","evidence":3}]}`, "edits[0].evidence is not one of"},
		{"a wrong type", `{"edits":[{"kind":"keep","sure":"yes"}]}`, "edits[0].sure is string, want boolean"},
		{"one of several types", `{"edits":[{"kind":"keep"}],"note":[]}`, "note is array, want string or null"},
		{"none of the shapes", `{"edits":[{"kind":"keep"}],"target":1.5}`, "target is number, want string"},
		{"another shape altogether", `[1]`, "the answer is array, want object"},
		{"not JSON", `{`, "not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := s.Check(json.RawMessage(c.value))
			if (err == nil) != (c.says == "") || (err != nil && !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

func TestStrict(t *testing.T) {
	for _, c := range []struct {
		name, schema string
		want         bool
	}{
		{"closed with all required", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}},"required":["a"],"additionalProperties":false}`, true},
		{"open", `{"type":"object","properties":{"a":{}},"required":["a"]}`, false},
		{"with a choice", `{"type":"object","properties":{"a":{}},"additionalProperties":false}`, false},
		{"open inside", `{"type":"array","items":{"type":"object"}}`, false},
		{"open inside a property", `{"type":"object","properties":{"a":{"type":"object"}},"required":["a"],"additionalProperties":false}`, false},
		{"open in one shape", `{"anyOf":[{"type":"string"},{"type":"object"}]}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := schema.Parse(json.RawMessage(c.schema))
			if err != nil || s.Strict() != c.want {
				t.Errorf("got %v, %v", s.Strict(), err)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	for text, want := range map[string]byte{`{"type":"object"}`: '{', `{"type":"array"}`: '[', `{"type":["object","array"]}`: 0, `{}`: 0} {
		if s, err := schema.Parse(json.RawMessage(text)); err != nil || s.Open() != want {
			t.Errorf("%s: got %q, %v", text, s.Open(), err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(edits, `{"edits":[{"kind":"keep"}]}`)
	f.Add(`{"type":["string","null"],"enum":[1,"x",{}]}`, `null`)
	f.Add(`{"items":null,"properties":{"a":null},"anyOf":[null]}`, `[{"a":1}]`)
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := schema.Parse(json.RawMessage(text))
		if err != nil {
			return
		}
		s.Strict()
		if s.Check(json.RawMessage(value)) == nil && !json.NewDecoder(strings.NewReader(value)).More() {
			t.Fatalf("%q fits though it holds no value", value)
		}
	})
}
