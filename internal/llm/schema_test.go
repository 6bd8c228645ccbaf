package llm

import (
	"encoding/json"
	"strings"
	"testing"
)

const editsShape = `{"type":"object","required":["edits"],"properties":{
	"note": {"type": ["string", "null"]},
	"score": {"type": "number"},
	"target": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
	"edits": {"type":"array","minItems":1,"items":{"type":"object","required":["kind"],"properties":{
		"kind":{"enum":["keep","replace"]}, "evidence":{"type":"integer","enum":[1,2]}, "sure":{"type":"boolean"}}}}}}`

func TestCheck(t *testing.T) {
	s, err := parseSchema(json.RawMessage(editsShape))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, value, want string }{
		{"fits", `{"edits":[{"kind":"keep","evidence":2,"sure":true}],"note":null,"score":1,"target":"x"}`, ""},
		{"additional keys fit", `{"edits":[{"kind":"keep","why":"so"}],"more":1}`, ""},
		{"a number may be whole or not", `{"edits":[{"kind":"keep"}],"score":0.5}`, ""},
		{"a key is missing", `{}`, `the answer lacks the key "edits"`},
		{"a key inside is missing", `{"edits":[{"kind":"keep"},{}]}`, `edits[1] lacks the key "kind"`},
		{"too few elements", `{"edits":[]}`, "edits has 0 elements, want at least 1"},
		{"a word outside the enum", `{"edits":[{"kind":"burn"}]}`, "edits[0].kind is not one of"},
		{"a number outside the enum", `{"edits":[{"kind":"keep","evidence":3}]}`, "edits[0].evidence is not one of"},
		{"a wrong type", `{"edits":[{"kind":"keep","sure":"yes"}]}`, "edits[0].sure is string, want boolean"},
		{"one of several types", `{"edits":[{"kind":"keep"}],"note":[]}`, "note is array, want string or null"},
		{"no alternative of anyOf fits", `{"edits":[{"kind":"keep"}],"target":1.5}`, "target is number, want string"},
		{"an array instead of an object", `[1]`, "the answer is array, want object"},
		{"not JSON", `{`, "not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := s.check(json.RawMessage(c.value))
			if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestStrict(t *testing.T) {
	for _, c := range []struct {
		name, schema string
		want         bool
	}{
		{"closed, all properties required",
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}},` +
				`"required":["a"],"additionalProperties":false}`, true},
		{"open", `{"type":"object","properties":{"a":{}},"required":["a"]}`, false},
		{"an optional property", `{"type":"object","properties":{"a":{}},"additionalProperties":false}`, false},
		{"open items", `{"type":"array","items":{"type":"object"}}`, false},
		{"an open property",
			`{"type":"object","properties":{"a":{"type":"object"}},"required":["a"],"additionalProperties":false}`,
			false},
		{"an open alternative", `{"anyOf":[{"type":"string"},{"type":"object"}]}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := parseSchema(json.RawMessage(c.schema))
			if err != nil || s.strict() != c.want {
				t.Errorf("got %v, %v", s.strict(), err)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	for text, want := range map[string]byte{`{"type":"object"}`: '{', `{"type":"array"}`: '[',
		`{"type":["object","array"]}`: 0, `{}`: 0} {
		if s, err := parseSchema(json.RawMessage(text)); err != nil || s.openingBracket() != want {
			t.Errorf("%s: got %q, %v", text, s.openingBracket(), err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(editsShape, `{"edits":[{"kind":"keep"}]}`)
	f.Add(`{"type":["string","null"],"enum":[1,"x",{}]}`, `null`)
	f.Add(`{"items":null,"properties":{"a":null},"anyOf":[null]}`, `[{"a":1}]`)
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := parseSchema(json.RawMessage(text))
		if err != nil {
			return
		}
		s.strict()
		if s.check(json.RawMessage(value)) == nil && !json.NewDecoder(strings.NewReader(value)).More() {
			t.Fatalf("%q fits the schema without holding a value", value)
		}
	})
}
