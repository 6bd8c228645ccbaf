package link

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hbollon/go-edlib"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// align adds an entity found by spelling as a candidate, with the part of the text that its name
// resembles most. A name with no word in the text was found by an alias or by its initials.
func (q *question) align(found store.NameMatch, run mention, namesakes int) {
	name := strings.Fields(store.Fold(q.snap.EntityName(found.Entity)))
	c := candidate{entity: found.Entity, mention: run, method: bySpelling, likeness: found.Similarity,
		namesakes: namesakes}
	// worth is the number of the name's letters that each word of the text stands for, known that
	// of the letters found anywhere in the text.
	worth := make([]float32, len(q.words))
	letters, known := 0, float32(0)
	for _, part := range name {
		size, best := utf8.RuneCountInString(part), float32(0)
		letters += size
		for i, w := range q.words {
			likeness := w.likeness(part)
			worth[i] = max(worth[i], likeness*float32(w.letters))
			best = max(best, likeness)
		}
		known += best * float32(size)
	}
	c.knownLetters = known / float32(max(letters, 1))
	if m, likeness := q.bestRun(worth, letters); likeness > 0 {
		c.mention, c.likeness = m, likeness
	} else if run.words() == 1 && isInitials(name, q.words[run.first].folded) {
		c.method = byInitials
	}
	if c.likeness < minLikeness {
		return
	}
	if isPartOf(fold(q.mentionText(c.mention)), strings.Join(name, " ")) {
		c.method = byPart
	}
	q.add(c)
}

// bestRun returns the run of words with the greatest Dice coefficient of letters to a name. It
// begins and ends with words of the name.
func (q *question) bestRun(worth []float32, letters int) (best mention, likeness float32) {
	for first := range q.words {
		if worth[first] == 0 {
			continue
		}
		common, length := float32(0), 0
		for last := first + 1; last <= min(len(q.words), first+maxMentionWords); last++ {
			common += worth[last-1]
			length += q.words[last-1].letters
			if worth[last-1] == 0 || onlyStopwords(q.words[first:last]) {
				continue
			}
			if dice := min(1, 2*common/float32(letters+length)); dice > likeness {
				best, likeness = mention{first, last}, dice
			}
		}
	}
	return best, likeness
}

// likeness compares a word of the text with one of a name: 1 for the same word, 0 if more than one
// letter in four differs.
func (w word) likeness(part string) float32 {
	if w.folded == part {
		return 1
	}
	if d := len(w.folded) - len(part); w.stop || w.letters < 4 || d > 2 || d < -2 {
		return 0
	}
	d, longer := edlib.LevenshteinDistance(w.folded, part), max(utf8.RuneCountInString(w.folded),
		utf8.RuneCountInString(part))
	if 4*d > longer {
		return 0
	}
	return 1 - float32(d)/float32(longer)
}

// isPartOf reports whether a name begins or ends with the words of a mention.
func isPartOf(part, whole string) bool {
	return strings.HasPrefix(whole, part+" ") || strings.HasSuffix(whole, " "+part)
}

// isInitials reports whether a word is the initials of a name, with or without those of its short
// words.
func isInitials(name []string, word string) bool {
	var all, large strings.Builder
	for _, part := range name {
		first, _ := utf8.DecodeRuneInString(part)
		all.WriteRune(first)
		if utf8.RuneCountInString(part) > 3 {
			large.WriteRune(first)
		}
	}
	return word == all.String() || word == large.String()
}

// word is a word of a text with its position.
type word struct {
	start, end int
	// capital: begins with a capital or a digit and is not the first word.
	capital bool
	// stop: is a stop word; number: consists of digits.
	stop, number bool
	folded       string
	// letters counts its characters.
	letters int
}

// splitWords returns the words of a text. A possessive "'s" is not part of a word.
func splitWords(text string) []word {
	var words []word
	start := -1
	flush := func(end int) {
		if start < 0 {
			return
		}
		for _, tail := range []string{"'s", "’s", "'", "’", "."} {
			if cut, ok := strings.CutSuffix(text[start:end], tail); ok && cut != "" && !strings.Contains(cut, ".") {
				end = start + len(cut)
				break
			}
		}
		first, _ := utf8.DecodeRuneInString(text[start:end])
		words = append(words, word{
			start: start, end: end,
			capital: unicode.IsUpper(first) && len(words) > 0 || unicode.IsDigit(first),
			stop:    isStopword(words, strings.ToLower(text[start:end])),
			number:  strings.Trim(text[start:end], "0123456789") == "",
			folded:  store.Fold(text[start:end]),
			letters: utf8.RuneCountInString(text[start:end]),
		})
		start = -1
	}
	for i, r := range text {
		inside := unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) ||
			(start >= 0 && (r == '\'' || r == '’' || r == '.'))
		switch {
		case inside && start < 0:
			start = i
		case !inside:
			flush(i)
		}
		if len(words) == maxWords {
			return words
		}
	}
	flush(len(text))
	return nameCapitals(text, words)
}

// nameCapitals takes stop words in capitals for names if they are all there is, or if others have none: the last of
// "written in Go". The first word of a sentence is not meant by its capital, nor is "I".
func nameCapitals(text string, words []word) []word {
	isAll := len(words) < minStopwordName && onlyStopwords(words) && text != strings.ToLower(text)
	hasLower := slices.ContainsFunc(words[min(1, len(words)):], func(w word) bool { return w.stop && !w.capital })
	for i, w := range words {
		before := strings.TrimRight(text[:w.start], " \"'“‘(")
		isFirst := before == "" || strings.ContainsRune(".?!:", rune(before[len(before)-1]))
		if isAll || hasLower && w.capital && w.letters > 1 && !isFirst {
			words[i].stop = false
		}
	}
	return words
}

// textBetween returns the text from word first to before word last.
func textBetween(text string, words []word, first, last int) string {
	return text[words[first].start:words[last-1].end]
}

// fold folds a mention; "child 's play" becomes "childs play", as its name does.
func fold(mention string) string {
	return store.Fold(strings.ReplaceAll(mention, " '", "'"))
}

// onlyStopwords reports whether words are stop words only.
func onlyStopwords(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return !w.stop })
}

// isStopword reports whether a word after others is a stop word. A pronoun is, but not with an
// article: "the us" is a country.
func isStopword(before []word, text string) bool {
	if len(before) > 0 && before[len(before)-1].folded == "the" && pronouns[text] {
		return false
	}
	return stopwords[text]
}

var pronouns = wordSet("it us who")

var stopwords = wordSet(`a about above after again against all also am an and any are as at be because been
before being below between both but by can could did do does doing down during each few first for from
further had has have having he her here hers him his how i if in into is it its itself just me more most
my name named names new no nor not now of off on once one only or other our out over own part place play
played plays s same she should so some such than that the their them then there these they thing this
those speak speaks spoken start started begin began come comes came go goes going gone went live lives
lived located famous popular used someone example kind kinds see say said
through to too type types under
until up us use used very was we were what whats when where which while who whom whos whose
why will with would year years you your`)

func wordSet(text string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		words[w] = true
	}
	return words
}
