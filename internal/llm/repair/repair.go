// Package repair takes JSON out of what a language model wrote: out of code
// fences and prose, with the faults that models make put right.
package repair

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
)

// ErrNoJSON is returned for text that holds nothing like the JSON wanted.
var ErrNoJSON = errors.New("no JSON in the text")

var (
	fence = regexp.MustCompile("(?s)```[a-zA-Z0-9]*[ \t]*\r?\n?(.*?)(?:```|$)")
	think = regexp.MustCompile(`(?s)^\s*<think>.*?</think>`)
)

// mostStarts bounds how many brackets are tried as the beginning: prose may
// have some of its own.
const mostStarts = 16

// JSON returns the JSON value in a text: the first that is valid as it stands,
// else the first that can be repaired. Open is '{' or '[' where an object or an
// array is wanted, 0 for either. Valid JSON comes back unchanged.
//
// Put right are trailing and missing commas, brackets and strings that are not
// closed, single and typographic quotes, quotes and newlines inside strings,
// bare words as keys and strings, Python's True, False and None, and comments.
func JSON(text string, open byte) (json.RawMessage, error) {
	text = strings.TrimPrefix(think.ReplaceAllString(text, ""), "\ufeff")
	var parts []string
	for _, m := range fence.FindAllStringSubmatch(text, 8) {
		parts = append(parts, m[1])
	}
	parts = append(parts, text)
	for _, p := range parts {
		for _, at := range starts(p, open) {
			if v, ok := whole(p[at:]); ok {
				return v, nil
			}
		}
	}
	for _, p := range parts {
		for _, at := range starts(p, open) {
			if v, ok := mend(p[at:]); ok {
				return v, nil
			}
		}
	}
	if t := strings.TrimSpace(parts[0]); open == 0 && json.Valid([]byte(t)) {
		return json.RawMessage(t), nil
	}
	return nil, ErrNoJSON
}

// starts lists where a value may begin. A bracket inside a value that failed is
// tried too: prose such as "(see [1])" must not hide what follows.
func starts(s string, open byte) []int {
	var at []int
	for i := 0; i < len(s) && len(at) < mostStarts; i++ {
		if (s[i] == '{' || s[i] == '[') && (open == 0 || s[i] == open) {
			at = append(at, i)
		}
	}
	return at
}

// whole takes a valid value from the beginning of s.
func whole(s string) (json.RawMessage, bool) {
	var v json.RawMessage
	if err := json.NewDecoder(strings.NewReader(s)).Decode(&v); err != nil {
		return nil, false
	}
	return v, true
}

// mend takes a broken value from the beginning of s. A repair that left nothing
// over is none.
func mend(s string) (json.RawMessage, bool) {
	p := &parser{in: s}
	if !p.value(0) {
		return nil, false
	}
	out := p.out.Bytes()
	if !json.Valid(out) || bytes.Equal(out, []byte("{}")) || bytes.Equal(out, []byte("[]")) {
		return nil, false
	}
	return json.RawMessage(out), true
}
