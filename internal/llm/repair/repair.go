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

// JSON returns the first JSON value in a text, valid or repaired, that fits; if
// none does, the first at all. Open is '{' or '[' where an object or an array is
// wanted, 0 for either; a nil fits takes anything. Valid JSON comes back
// unchanged.
//
// Put right are trailing and missing commas, brackets and strings that are not
// closed, single and typographic quotes, quotes and newlines inside strings,
// bare words as keys and strings, Python's True, False and None, and comments.
func JSON(text string, open byte, fits func(json.RawMessage) bool) (json.RawMessage, error) {
	text = strings.TrimSpace(strings.TrimPrefix(think.ReplaceAllString(text, ""), "\ufeff"))
	var first json.RawMessage
	for _, part := range parts(text) {
		for _, at := range starts(part, open) {
			v, ok := whole(part[at:])
			if !ok {
				v, ok = mend(part[at:])
			}
			switch {
			case !ok:
			case fits == nil || fits(v):
				return v, nil
			case first == nil:
				first = v
			}
		}
	}
	if first != nil {
		return first, nil
	}
	if t := strings.TrimSpace(parts(text)[0]); open == 0 && json.Valid([]byte(t)) {
		return json.RawMessage(t), nil
	}
	return nil, ErrNoJSON
}

// parts are the places to look, likeliest first. Text that begins with a
// bracket may have fences inside its strings.
func parts(text string) []string {
	var fenced []string
	for _, m := range fence.FindAllStringSubmatch(text, 8) {
		fenced = append(fenced, m[1])
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return append([]string{text}, fenced...)
	}
	return append(fenced, text)
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
