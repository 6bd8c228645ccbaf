package link

import (
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// align finds the part of the text that a name resembles most, and adds it as
// a candidate. A name with no word in the text is one by an alias or by its
// initials.
func (q *question) align(found store.NameMatch, run mention, namesakes int) {
	name := strings.Fields(store.Fold(q.snap.EntityName(found.Entity)))
	c := candidate{entity: found.Entity, mention: run, how: bySpelling, likeness: found.Similarity, namesakes: namesakes}
	// worth is how many letters of the name each word of the text stands for,
	// known how many letters of it stand in the text.
	worth := make([]float32, len(q.words))
	letters, known := 0, float32(0)
	for _, part := range name {
		size, best := utf8.RuneCountInString(part), float32(0)
		letters += size
		for i, w := range q.words {
			likeness := w.alike(part)
			worth[i] = max(worth[i], likeness*float32(w.letters))
			best = max(best, likeness)
		}
		known += best * float32(size)
	}
	c.known = known / float32(max(letters, 1))
	if m, likeness := q.bestRun(worth, letters); likeness > 0 {
		c.mention, c.likeness = m, likeness
	} else if run.words() == 1 && initials(name, q.words[run.first].folded) {
		c.how = byInitials
	}
	if c.likeness < leastAlike {
		return
	}
	if partOf(fold(q.textOf(c.mention)), strings.Join(name, " ")) {
		c.how = byPart
	}
	q.add(c)
}

// bestRun finds the run of words with the greatest Dice of letters to a name:
// it begins and ends with words that the name has.
func (q *question) bestRun(worth []float32, letters int) (best mention, likeness float32) {
	for first := range q.words {
		if worth[first] == 0 {
			continue
		}
		common, length := float32(0), 0
		for last := first + 1; last <= min(len(q.words), first+longestMention); last++ {
			common += worth[last-1]
			length += q.words[last-1].letters
			if worth[last-1] == 0 || idle(q.words[first:last]) {
				continue
			}
			if dice := min(1, 2*common/float32(letters+length)); dice > likeness {
				best, likeness = mention{first, last}, dice
			}
		}
	}
	return best, likeness
}

// alike is how much a word of the text resembles one of a name: 1 for the same
// word, 0 where more than one letter in four differs.
func (w word) alike(part string) float32 {
	if w.folded == part {
		return 1
	}
	if d := len(w.folded) - len(part); w.stop || w.letters < 4 || d > 2 || d < -2 {
		return 0
	}
	a, b := []rune(w.folded), []rune(part)
	d, longer := distance(a, b), max(len(a), len(b))
	if 4*d > longer {
		return 0
	}
	return 1 - float32(d)/float32(longer)
}

// distance is the number of letters to insert, delete or replace.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// partOf tells whether a name begins or ends with the words of a mention.
func partOf(part, whole string) bool {
	return strings.HasPrefix(whole, part+" ") || strings.HasSuffix(whole, " "+part)
}

// initials tells whether a word is the initials of a name, with or without
// those of its small words.
func initials(name []string, word string) bool {
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
