package llm

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"valid JSON is unchanged", `{"a": [1, 2.50]}`, `{"a": [1, 2.50]}`},
		{"a fence", "Here:\n```json\n{\"a\":1}\n```\nDone {really}", `{"a":1}`},
		{"an unclosed fence", "```\n{\"a\":1", `{"a":1}`},
		{"prose around the value", `The answer is {"a":1}, I think.`, `{"a":1}`},
		{"a bracket in the prose before the value", `As (see {x}) says: {"a":1}`, `{"a":1}`},
		{"thinking before the value", `<think>{"b":2}?</think>{"a":1}`, `{"a":1}`},
		{"a byte order mark", "\ufeff{\"a\":1}", `{"a":1}`},
		{"trailing commas", `{"a":[1,2,],}`, `{"a":[1,2]}`},
		{"missing commas", "{\"a\":1\n\"b\":\"x\"\n\"c\":[1 , 2]}", `{"a":1,"b":"x","c":[1,2]}`},
		{"unclosed brackets", `{"a":[{"b":1`, `{"a":[{"b":1}]}`},
		{"an unclosed string", `{"a":"Par`, `{"a":"Par"}`},
		{"a key cut off", `{"a":1,"b`, `{"a":1}`},
		{"a value cut off", `{"a":1,"b":`, `{"a":1}`},
		{"a literal cut off", `{"a":1,"b":tru`, `{"a":1}`},
		{"the wrong bracket closes", `{"a":[1,2}`, `{"a":[1,2]}`},
		{"single quotes", `{'a': 'it''s', 'b': 'Conan O'Brien'}`, `{"a":"it''s","b":"Conan O'Brien"}`},
		{"typographic quotes", `{“a”: “x”}`, `{"a":"x"}`},
		{"quotes inside a string", `{"a":"the "big" one","b":1}`, `{"a":"the \"big\" one","b":1}`},
		{"a newline inside a string", "{\"a\":\"one\ntwo\"}", `{"a":"one\ntwo"}`},
		{"Python's literals", `{'a': True, 'b': False, 'c': None}`, `{"a":true,"b":false,"c":null}`},
		{"bare keys and words", `{a: Paris, b: 12}`, `{"a":"Paris","b":12}`},
		{"comments", "{\"a\":1, // the first\n /* and */ \"b\":2 # last\n}", `{"a":1,"b":2}`},
		{"unknown escapes", `{'a':'it\'s \d'}`, `{"a":"it's d"}`},
		{"JSON's escapes", `{'a':'\u00e9\ud83d\ude00\n'}`, `{"a":"é😀\n"}`},
		{"an equals sign", `{"a" = 1}`, `{"a":1}`},
		{"a plus and digit groups", `{'a': +1, 'b': 1_000}`, `{"a":1,"b":1000}`},
		{"an array before the requested object", `[1] {"a":1}`, `{"a":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := extractJSON(c.in, '{', nil)
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestOtherValues(t *testing.T) {
	for _, c := range []struct {
		name, in string
		open     byte
		want     string
	}{
		{"an object before the requested array", `{"a":1}: ['x',`, '[', `["x"]`},
		{"an object or array", ` ["x"] `, 0, `["x"]`},
		{"a number", " 12 ", 0, `12`},
		{"a fenced word", "```\ntrue\n```", 0, `true`},
		{"an empty object", `{}`, '{', `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := extractJSON(c.in, c.open, nil); err != nil || string(got) != c.want {
				t.Errorf("got %s, %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestFirstValueThatFits(t *testing.T) {
	fits := func(v json.RawMessage) bool { return strings.Contains(string(v), "edits") }
	for _, c := range []struct{ name, in, want string }{
		{"is preferred to one that does not fit", `{"a":1} or {"edits":[]}`, `{"edits":[]}`},
		{"may be broken", `{"a":1} or {'edits':[]`, `{"edits":[]}`},
		{"may be inside another", `{"answer": {"deltas": {"edits":1}}`, `{"answer":{"deltas":{"edits":1}}}`},
		{"may contain a fence", "{\"edits\":\"```json\\n{}\\n```\"}", "{\"edits\":\"```json\\n{}\\n```\"}"},
		{"is the first value if none fits", `{"a":1} or {"b":2}`, `{"a":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := extractJSON(c.in, '{', fits); err != nil || string(got) != c.want {
				t.Errorf("got %s, %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestNoJSON(t *testing.T) {
	for _, in := range []string{"", "Paris", "{", "[", "}{", "12", "```json\n```", "我不知道"} {
		if got, err := extractJSON(in, '{', nil); !errors.Is(err, errNoJSON) {
			t.Errorf("%q: got %s, %v", in, got, err)
		}
	}
}

func TestDeepNestingIsBounded(t *testing.T) {
	for _, in := range []string{strings.Repeat("[", 1<<18), strings.Repeat("{a:", 1<<16),
		strings.Repeat(`{"a":[`, 1<<16)} {
		if _, err := extractJSON(in, 0, nil); err != nil && !errors.Is(err, errNoJSON) {
			t.Errorf("got %v", err)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "```json\n{'a':[True,]}\n```", `{"a":"x "y" z`, `{a:b,c`,
		"{\"a\":\"\\ud83d\\ude00\\", "[[[{“a”:‘b’", "{#\n/*"} {
		f.Add(s, byte('{'))
		f.Add(s, byte(0))
	}
	f.Fuzz(func(t *testing.T, in string, open byte) {
		got, err := extractJSON(in, open, nil)
		if err != nil {
			if !errors.Is(err, errNoJSON) {
				t.Fatalf("got %v", err)
			}
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%q became %q, which is not JSON", in, got)
		}
		// Valid JSON keeps its meaning.
		trimmed := strings.TrimSpace(in)
		if trimmed == "" || (trimmed[0] != '{' && trimmed[0] != '[') || strings.Contains(in, "```") ||
			(open != 0 && trimmed[0] != open) {
			return
		}
		var before, after any
		if json.Unmarshal([]byte(in), &before) == nil && json.Unmarshal(got, &after) == nil &&
			!reflect.DeepEqual(before, after) {
			t.Fatalf("%q became %q", in, got)
		}
	})
}
