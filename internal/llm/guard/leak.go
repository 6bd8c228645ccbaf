package guard

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// mostWords in a row of instructions, or of the questions of examples, are a
	// leak: an answer shares words with them, but not so many in a row by chance.
	// With the answers of examples it shares a form too.
	mostWords        = 10
	mostExampleWords = 14
	// heldWords in a row may become a leak: from there on nothing is shown until
	// it is known.
	heldWords = 4
	// mostLooked is how much of an answer is looked at.
	mostLooked = 64 << 10
)

// Told is what a model was told.
type Told struct {
	// Instructions are the project's own: system messages.
	Instructions []string
	// Asked and Answered are the turns of the examples. Answers that are data of
	// one form are better left out: two may well be equal.
	Asked, Answered []string
	// Question is the message that it answers, with all that stands in it: what
	// an answer takes from there is no leak.
	Question string
}

// Leaks tells whether a text repeats what a model was told.
func Leaks(told Told, text string) bool { return newLeak(told).look(text, true) >= 0 }

// leak finds a text to repeat what the model was told.
type leak struct {
	// strict and answered are the words of instructions and questions, and of the
	// answers of examples; question those of what is asked.
	strict, answered, question string

	at   int // how much of the text was looked at
	from []int
	run  []string // the last words, as long as they stand in a row somewhere
}

func newLeak(told Told) *leak {
	return &leak{
		strict:   fold(append(told.Instructions, told.Asked...)),
		answered: fold(told.Answered),
		question: fold([]string{told.Question}),
	}
}

// add looks at a text that grew, as far as its words are whole. It returns
// where a leak begins, -1 where there is none.
func (l *leak) add(text string) int {
	if l.at >= mostLooked {
		return -1
	}
	return l.look(text, false)
}

// close looks at the last word too.
func (l *leak) close(text string) int {
	if l.at >= mostLooked {
		return -1
	}
	return l.look(text, true)
}

func (l *leak) look(text string, whole bool) int {
	for {
		begin := l.at + strings.IndexFunc(text[l.at:], isWord)
		if begin < l.at {
			return -1
		}
		size := strings.IndexFunc(text[begin:], func(r rune) bool { return !isWord(r) })
		if size < 0 && !whole {
			return -1
		}
		if size < 0 {
			size = len(text) - begin
		}
		l.at = begin + size
		l.word(strings.ToLower(text[begin:l.at]), begin)
		if len(l.run) >= mostWords && l.told() {
			return l.from[0]
		}
		if l.at == len(text) {
			return -1
		}
	}
}

// word adds a word to the run, from whose front words go until it stands
// somewhere again.
func (l *leak) word(word string, begin int) {
	l.run, l.from = append(l.run, word), append(l.from, begin)
	for len(l.run) > 0 {
		row := " " + strings.Join(l.run, " ") + " "
		if strings.Contains(l.strict, row) || strings.Contains(l.answered, row) {
			return
		}
		l.run, l.from = l.run[1:], l.from[1:]
	}
}

// told tells a run that is a leak from one that answers: what the question
// itself holds may be repeated, and so may an example that the question is
// about.
func (l *leak) told() bool {
	row := " " + strings.Join(l.run, " ") + " "
	if strings.Contains(l.question, row) {
		return false
	}
	if strings.Contains(l.strict, row) {
		return true
	}
	if len(l.run) < mostExampleWords {
		return false
	}
	for _, w := range l.run {
		if len(w) > 3 && strings.Contains(l.question, " "+w+" ") {
			return false
		}
	}
	return true
}

// held is from where on a text may turn out to be a leak; -1 where it cannot.
func (l *leak) held() int {
	if len(l.run) < heldWords || l.at >= mostLooked {
		return -1
	}
	return l.from[0]
}

// fold makes one line of words of some texts; no row of words goes from one
// text into the next.
func fold(texts []string) string {
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
