package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// dialogue asks questions, a line each. A silent one takes the defaults.
type dialogue struct {
	in     io.Reader
	out    io.Writer
	silent bool
}

// errNoMore is the end of input in the middle of the questions.
var errNoMore = exitError{exitUsage, errors.New("the input ended before the last question, nothing was written: for scripts there are --yes and flags (triplemesh init --help)")}

func (d *dialogue) say(format string, args ...any) {
	fmt.Fprintf(d.out, format+"\n", args...)
}

// ask asks for a word. An empty line takes the default.
func (d *dialogue) ask(question, otherwise string) (string, error) {
	if d.silent {
		return otherwise, nil
	}
	if otherwise != "" {
		question += " [" + otherwise + "]"
	}
	fmt.Fprintf(d.out, "%s: ", question)
	line, err := d.line()
	if err != nil {
		return "", err
	}
	if line == "" {
		return otherwise, nil
	}
	return line, nil
}

// must asks until the answer is fit.
func (d *dialogue) must(question, otherwise string, fit func(string) error) (string, error) {
	for {
		answer, err := d.ask(question, otherwise)
		if err != nil {
			return "", err
		}
		err = fit(answer)
		if err == nil {
			return answer, nil
		}
		if d.silent {
			return "", exitError{exitUsage, err}
		}
		d.say("  %v", err)
	}
}

// choose asks for one of several, by its number or its name.
func (d *dialogue) choose(question string, names, about []string) (string, error) {
	if d.silent {
		return names[0], nil
	}
	d.say("%s", question)
	for i, name := range names {
		d.say("  %d  %-9s %s", i+1, name, about[i])
	}
	return d.must("Number or name", "1", func(answer string) error {
		if named(names, answer) == "" {
			return fmt.Errorf("%q is none of them%s", answer, didYouMean(answer, names))
		}
		return nil
	})
}

// named is the one of the names that an answer means; empty where it means none.
func named(names []string, answer string) string {
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(names) {
		return names[n-1]
	}
	for _, name := range names {
		if strings.EqualFold(name, answer) {
			return name
		}
	}
	return ""
}

// yes asks for yes or no.
func (d *dialogue) yes(question string, otherwise bool) (bool, error) {
	hint := "no"
	if otherwise {
		hint = "yes"
	}
	answer, err := d.must(question+" yes or no", hint, func(answer string) error {
		if _, ok := truth[strings.ToLower(answer)]; !ok {
			return errors.New("yes or no")
		}
		return nil
	})
	return truth[strings.ToLower(answer)], err
}

var truth = map[string]bool{"yes": true, "y": true, "no": false, "n": false}

// longestLine bounds what is read for an answer, in bytes.
const longestLine = 4096

// line reads up to a line feed and no further: what follows is for the next
// question.
func (d *dialogue) line() (string, error) {
	var line []byte
	for one := make([]byte, 1); len(line) < longestLine; {
		n, err := d.in.Read(one)
		if n == 1 {
			if one[0] == '\n' {
				return strings.TrimSpace(string(line)), nil
			}
			line = append(line, one[0])
		}
		if errors.Is(err, io.EOF) && len(line) > 0 {
			return strings.TrimSpace(string(line)), nil
		}
		if errors.Is(err, io.EOF) {
			return "", errNoMore
		}
		if err != nil {
			return "", fmt.Errorf("read the answer: %w", err)
		}
	}
	return "", exitError{exitUsage, fmt.Errorf("the answer is longer than %d bytes", longestLine)}
}
