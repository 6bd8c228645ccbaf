package propose

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/sentence"
)

const (
	// passageChars is how long a passage becomes, in characters. Small models
	// lose facts of long ones.
	passageChars = 600
	// contextChars is how much of what stands before a passage goes with it.
	contextChars = 300
	// sentenceBytes is the longest sentence that is asked about, and a little less
	// than the contract takes for a passage. What is longer is no prose.
	sentenceBytes = 8 << 10
)

// Text is a file that was read.
type Text struct {
	// File is its path as the user named it.
	File string
	// Content is what it holds, in UTF-8.
	Content string
}

// Passage is a part of a text that the model is asked about at once: some
// sentences of one section.
type Passage struct {
	File string
	// Text is the passage, Context what stands before it: the heading and the
	// sentence before, which name what its pronouns mean.
	Text, Context string
	// Start is where it begins, in characters of the file; FirstLine is in which
	// line, from 1.
	Start, FirstLine int
}

// Passages parts a text, in order. Of Markdown, front matter, code and comments
// are left out.
func (t Text) Passages() []Passage {
	prose := blank(t.Content)
	runes := []rune(prose)
	var all []Passage
	var open []sentence.Sentence
	heading, before := "", ""
	flush := func() {
		if len(open) == 0 {
			return
		}
		start, end := open[0].Start, open[len(open)-1].End
		all = append(all, Passage{
			File: t.File, Text: string(runes[start:end]), Context: lead(heading, before),
			Start: start, FirstLine: 1 + strings.Count(string(runes[:start]), "\n"),
		})
		before, open = open[len(open)-1].Text, nil
	}
	for _, s := range sentence.Split(prose) {
		if title, ok := headingOf(s.Text); ok {
			flush()
			heading, before = title, ""
			continue
		}
		if !wordy(s.Text) || len(s.Text) > sentenceBytes {
			continue
		}
		if len(open) > 0 && s.End-open[0].Start > passageChars {
			flush()
		}
		open = append(open, s)
	}
	flush()
	return all
}

// lead is what stands before a passage, cut at its beginning.
func lead(heading, before string) string {
	if runes := []rune(before); len(runes) > contextChars {
		before = string(runes[len(runes)-contextChars:])
	}
	if heading == "" || before == "" {
		return heading + before
	}
	return heading + ". " + before
}

// headingOf reads a Markdown heading.
func headingOf(line string) (title string, ok bool) {
	level := len(line) - len(strings.TrimLeft(line, "#"))
	if level < 1 || level > 6 || strings.Contains(line, "\n") || level == len(line) || line[level] != ' ' {
		return "", false
	}
	return strings.Trim(line[level:], " #"), true
}

// wordy tells a sentence from a rule, a table's border or a number alone.
func wordy(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) >= 0 }

// key names a passage by its content: the same words behind other words may mean
// something else.
func (p Passage) key(model string) string {
	sum := sha256.New()
	for _, part := range []string{model, p.Context, p.Text} {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Length is the passage's, in characters.
func (p Passage) Length() int { return len([]rune(p.Text)) }

// line is the line of the file in which a character of the passage stands.
func (p Passage) line(at int) int {
	return p.FirstLine + strings.Count(string([]rune(p.Text)[:at]), "\n")
}

// place says where the passage begins.
func (p Passage) place() string { return fmt.Sprintf("%s:%d", p.File, p.FirstLine) }

// around is the sentence, or the sentences, that a span lies in, on one line.
func (p Passage) around(start, end int) string {
	first, last := -1, 0
	for _, s := range sentence.Split(p.Text) {
		if s.End > start && s.Start < end {
			if first < 0 {
				first = s.Start
			}
			last = s.End
		}
	}
	if first < 0 {
		first, last = 0, p.Length()
	}
	return strings.Join(strings.Fields(string([]rune(p.Text)[first:last])), " ")
}
