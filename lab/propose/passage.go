package propose

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

// sentenceBytes is the longest sentence that is asked about, and a little less
// than the contract takes for a passage. What is longer is no prose.
const sentenceBytes = 8 << 10

// Text is a file that was read.
type Text struct {
	// File is its path as the user named it.
	File string
	// Content is what it holds, in UTF-8.
	Content string
}

// Passage is a part of a text that the model is asked about at once: a sentence.
// Small models lose facts of longer ones, and mix up what they are about.
type Passage struct {
	File string
	// Text is the passage. Context is what names what its pronouns mean: a
	// sentence before it, or the heading of its section; empty if it has none.
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
	var section []kgtext.Sentence
	heading := ""
	line, at := 1, 0 // of the same place in the text
	for _, s := range kgtext.SplitSentences(prose) {
		if !wordy(s.Text) || len(s.Text) > sentenceBytes {
			continue
		}
		if title, ok := parseHeading(s.Text); ok {
			heading, section = title, nil
			continue
		}
		section = append(section, s)
		context := kgtext.FindAntecedent(section, len(section)-1)
		if len(section) == 1 && kgtext.NeedsAntecedent(s.Text) {
			context = heading
		}
		line, at = line+strings.Count(string(runes[at:s.Start]), "\n"), s.Start
		all = append(all, Passage{File: t.File, Text: s.Text, Context: context, Start: s.Start, FirstLine: line})
	}
	return all
}

// parseHeading reads a Markdown heading.
func parseHeading(line string) (title string, ok bool) {
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

// Length returns the passage's, in characters.
func (p Passage) Length() int { return len([]rune(p.Text)) }

// line returns the line of the file in which a character of the passage stands.
func (p Passage) line(at int) int {
	return p.FirstLine + strings.Count(string([]rune(p.Text)[:at]), "\n")
}

// place says where the passage begins.
func (p Passage) place() string { return fmt.Sprintf("%s:%d", p.File, p.FirstLine) }

// around returns the sentence, or the sentences, that a span lies in, on one line.
func (p Passage) around(start, end int) string {
	first, last := -1, 0
	for _, s := range kgtext.SplitSentences(p.Text) {
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
