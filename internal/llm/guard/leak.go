package guard

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxSharedWords in a row of instructions or example questions are a leak: an answer shares words
	// with them, but not so many in a row by chance. With example answers it shares a form too.
	maxSharedWords  = 10
	maxExampleWords = 14
	// heldWords in a row may become a leak: the text is held back until that is clear.
	heldWords = 4
	// maxScannedBytes is how much of an answer is scanned.
	maxScannedBytes = 64 << 10
)

// Prompt is the text that an answer must not repeat.
type Prompt struct {
	// Instructions are the system messages.
	Instructions []string
	// Questions and Answers are the turns of the examples. Omit answers that are data of one form, as
	// two may well be equal.
	Questions, Answers []string
	// Question is the message to answer: quoting it is not a leak.
	Question string
}

// Leaks reports whether a text repeats a prompt.
func Leaks(told Prompt, text string) bool { return newLeak(told).scan(text, true) >= 0 }

// leak detects that a text repeats the prompt.
type leak struct {
	// strict are the words of instructions and example questions, answered those of example answers,
	// question those of the question.
	strict, answered, question string

	scanned int // how much of the text was looked at
	starts  []int
	run     []string // the last words, as long as they stand in a row somewhere
}

func newLeak(told Prompt) *leak {
	return &leak{
		strict:   foldWords(append(told.Instructions, told.Questions...)),
		answered: foldWords(told.Answers),
		question: foldWords([]string{told.Question}),
	}
}

// add scans the complete words of a growing text. It returns where a leak begins, -1 if none.
func (l *leak) add(text string) int {
	if l.scanned >= maxScannedBytes {
		return -1
	}
	return l.scan(text, false)
}

// close scans the last word too.
func (l *leak) close(text string) int {
	if l.scanned >= maxScannedBytes {
		return -1
	}
	return l.scan(text, true)
}

func (l *leak) scan(text string, whole bool) int {
	for {
		begin := l.scanned + strings.IndexFunc(text[l.scanned:], isWord)
		if begin < l.scanned {
			return -1
		}
		size := strings.IndexFunc(text[begin:], func(r rune) bool { return !isWord(r) })
		if size < 0 && !whole {
			return -1
		}
		if size < 0 {
			size = len(text) - begin
		}
		l.scanned = begin + size
		l.addWord(strings.ToLower(text[begin:l.scanned]), begin)
		if len(l.run) >= maxSharedWords && l.isLeak() {
			return l.starts[0]
		}
		if l.scanned == len(text) {
			return -1
		}
	}
}

// addWord adds a word to the run and drops words from its front until the run occurs in the prompt.
func (l *leak) addWord(word string, begin int) {
	l.run, l.starts = append(l.run, word), append(l.starts, begin)
	for len(l.run) > 0 {
		row := " " + strings.Join(l.run, " ") + " "
		if strings.Contains(l.strict, row) || strings.Contains(l.answered, row) {
			return
		}
		l.run, l.starts = l.run[1:], l.starts[1:]
	}
}

// isLeak reports whether the run is a leak: text of the question may be repeated, and so may an
// example that the question is about.
func (l *leak) isLeak() bool {
	row := " " + strings.Join(l.run, " ") + " "
	if strings.Contains(l.question, row) {
		return false
	}
	if strings.Contains(l.strict, row) {
		return true
	}
	if len(l.run) < maxExampleWords {
		return false
	}
	return !slices.ContainsFunc(l.run, func(w string) bool {
		return len(w) > 3 && strings.Contains(l.question, " "+w+" ")
	})
}

// holdFrom returns where a possible leak begins, -1 if none.
func (l *leak) holdFrom() int {
	if len(l.run) < heldWords || l.scanned >= maxScannedBytes {
		return -1
	}
	return l.starts[0]
}

// foldWords returns the lower-case words of texts, one line each, so that no run spans two texts.
func foldWords(texts []string) string {
	var b strings.Builder
	for _, t := range texts {
		b.WriteByte(' ')
		for _, w := range strings.FieldsFunc(t, func(r rune) bool { return !isWord(r) }) {
			b.WriteString(strings.ToLower(w))
			b.WriteByte(' ')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r))
}
