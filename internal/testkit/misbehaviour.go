package testkit

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed testdata/misbehaviour
var misbehaviours embed.FS

// Misbehaviour is a recorded fault of a real model server, which is replayed on a connection.
//
// A file begins with lines that say what is done wrong and by whom. The last of
// them says how a call ends, as any of some words with commas between:
//
//	ends: answered              as if nothing had been wrong
//	ends: warned                with less, and a warning
//	ends: UNAVAILABLE           in this code
//	ends: DEADLINE_EXCEEDED     in the time of its caller
//
// Then come one or two scripts of what is sent: "--- any", or "--- whole" and
// "--- streamed" by what was asked for. "--- say" is what the model says, sent
// as a server sends it that does nothing wrong. Lines are sent as they stand,
// those of the head with CRLF; a backslash at the end takes the line's end
// away. {{…}} are what was asked: model, system, question, prompt; answer is
// what the script of the test would have said, piece a word of it, and date 1h
// a date in an hour. What begins with @ is done:
//
//	@wait 20ms              a pause
//	@repeat 100 … @end      again and again
//	@forever … @end         until nobody is there any more
//	@pieces … @end          for each piece of the answer
//	@bytewise               from here on, one byte at a time
//	@crlf                   from here on, lines end in CRLF
//	@hex c3 28              bytes
//	@gzip 64                a gzipped answer of so many MiB
//	@hang                   until nobody is there any more
//	@reset                  the connection breaks
//
// At the end of a script the connection is closed.
type Misbehaviour struct {
	// Name is the file's, without its ending.
	Name string
	// About says what is done wrong.
	About string
	// Ends are the ways in which a call may end.
	Ends []string
	// scripts are the lines by what was asked for: "any", "whole", "streamed",
	// "say".
	scripts map[string][]string
}

// allMisbehaviours returns the fixtures by name.
func allMisbehaviours() ([]Misbehaviour, error) {
	entries, err := misbehaviours.ReadDir("testdata/misbehaviour")
	if err != nil {
		return nil, err
	}
	var all []Misbehaviour
	for _, e := range entries {
		data, err := misbehaviours.ReadFile(path.Join("testdata/misbehaviour", e.Name()))
		if err != nil {
			return nil, err
		}
		f, err := parseMisbehaviour(strings.TrimSuffix(e.Name(), ".txt"), string(data))
		if err != nil {
			return nil, fmt.Errorf("read fixture %s: %w", e.Name(), err)
		}
		all = append(all, f)
	}
	return all, nil
}

// Has reports whether a call may end in this way.
func (f Misbehaviour) Has(end string) bool { return slices.Contains(f.Ends, end) }

func parseMisbehaviour(name, text string) (Misbehaviour, error) {
	f := Misbehaviour{Name: name, scripts: map[string][]string{}}
	section := ""
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		ends, isEnds := strings.CutPrefix(line, "ends: ")
		head, isHead := strings.CutPrefix(line, "--- ")
		switch {
		case isHead:
			section = head
			if !slices.Contains([]string{"any", "whole", "streamed", "say"}, section) {
				return f, fmt.Errorf("unknown script %q", section)
			}
			f.scripts[section] = []string{}
		case section != "":
			f.scripts[section] = append(f.scripts[section], line)
		case isEnds:
			f.Ends = strings.Split(ends, ", ")
		default:
			f.About = strings.TrimSpace(f.About + " " + line)
		}
	}
	if f.About == "" || len(f.Ends) == 0 || len(f.scripts) == 0 {
		return f, fmt.Errorf("it needs a sentence, a line \"ends:\" and a script")
	}
	return f, nil
}

// script returns the lines to send for a streamed or a whole answer.
func (f Misbehaviour) script(stream bool) (lines []string, say bool) {
	name := "whole"
	if stream {
		name = "streamed"
	}
	for _, n := range []string{name, "any"} {
		if lines, ok := f.scripts[n]; ok {
			return lines, false
		}
	}
	return f.scripts["say"], true
}
