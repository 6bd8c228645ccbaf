package guard

import "strings"

const (
	// window is how much of the end of a text is looked at.
	window = 2048
	// mostOnce is how much may be the same unit again and again, at least
	// fewestTimes: more than any ruler, list of equal values or refrain takes.
	mostOnce    = 512
	fewestTimes = 4
	// mostSpace is how much white space may stand together. Grammars that allow
	// any lead small models into more.
	mostSpace = 256
)

// loop finds the end of a text to be one unit repeated, to the letter. What only
// resembles, such as rows of a table, is left to the bound on an answer's
// length: no measure tells it from a loop.
type loop struct {
	seen int
	// fail is reused from look to look.
	fail []int
}

// add looks at a text that grew, always at the same places of it, however it is
// cut into pieces. It returns where the second of the repeats
// begins, -1 where there is no loop.
func (l *loop) add(text string) int {
	for l.seen+step <= len(text) {
		l.seen += step
		if at := l.look(text[:l.seen]); at >= 0 {
			return at
		}
	}
	return -1
}

func (l *loop) look(text string) int {
	tail := text[max(0, len(text)-window):]
	if space := len(tail) - len(strings.TrimRight(tail, " \t\r\n")); space > mostSpace {
		return len(text) - space
	}
	span, period := l.periodic(tail)
	if span == 0 {
		return -1
	}
	return len(text) - span + period
}

// periodic finds the longest end of a text that is one unit again and again:
// the failure function of Knuth, Morris and Pratt over the text backwards gives
// the shortest period of each end in one pass.
func (l *loop) periodic(tail string) (span, period int) {
	n := len(tail)
	if n <= mostOnce {
		return 0, 0
	}
	if l.fail == nil {
		l.fail = make([]int, window)
	}
	at := func(i int) byte { return tail[n-1-i] }
	fail := l.fail[:n]
	fail[0] = 0
	for i, k := 1, 0; i < n; i++ {
		for k > 0 && at(i) != at(k) {
			k = fail[k-1]
		}
		if at(i) == at(k) {
			k++
		}
		fail[i] = k
		if p := i + 1 - k; i+1 > mostOnce && i+1 >= fewestTimes*p {
			span, period = i+1, p
		}
	}
	return span, period
}
