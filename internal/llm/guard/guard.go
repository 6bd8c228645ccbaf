// Package guard filters a model's answer as it arrives: it removes thoughts and chat template marks,
// and ends an answer that loops, repeats its prompt or exceeds its length.
package guard

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reason is why the guard ended an answer.
type Reason string

// Reasons.
const (
	// None: the answer was not ended.
	None Reason = ""
	// Stop: the model continued after its turn.
	Stop Reason = "stop"
	// Length: the answer exceeded its limit.
	Length Reason = "length"
	// Repetition: the answer loops.
	Repetition Reason = "repetition"
	// Leak: the answer repeats its prompt.
	Leak Reason = "prompt_leak"
)

// Config is the limits of an answer.
type Config struct {
	// MaxBytes bounds the answer.
	MaxBytes int
	// Prompt is the text that the answer must not repeat.
	Prompt Prompt
	// AllowToolCalls keeps tool calls in the text.
	AllowToolCalls bool
}

// Guard filters one answer. It is not safe for concurrent use.
type Guard struct {
	cfg     Config
	turn    turn
	loop    loop
	leak    *leak
	text    strings.Builder // without thoughts and marks
	emitted int             // bytes of text that were emitted
	end     Reason
	cut     int // of text, once ended
}

// New returns a Guard.
func New(cfg Config) *Guard {
	return &Guard{cfg: cfg, leak: newLeak(cfg.Prompt), turn: turn{tools: cfg.AllowToolCalls}}
}

// stepBytes is how much text is scanned at once.
const stepBytes = 64

// Add takes the next piece of an answer and returns the text to emit. After a reason to end it emits
// nothing more.
func (g *Guard) Add(piece string) (show string, end Reason) {
	piece = strings.Map(dropControl, piece)
	for g.end == None && piece != "" {
		n := min(stepBytes, len(piece))
		for n < len(piece) && !utf8.RuneStart(piece[n]) {
			n++
		}
		g.add(g.turn.add(piece[:n]))
		piece = piece[n:]
		if g.end == None && g.turn.ended {
			g.finish(g.text.Len(), Stop)
		}
	}
	return g.emit(), g.end
}

// dropControl drops control characters.
func dropControl(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
		return -1
	}
	return r
}

// Close processes the text that was held back and returns what to emit of it. It must be called when
// the answer ends by itself.
func (g *Guard) Close() (show string, end Reason) {
	if g.end == None {
		g.add(g.turn.close())
	}
	if at := g.leak.close(g.text.String()); g.end == None && at >= 0 {
		g.finish(at, Leak)
	}
	if g.end == None {
		g.finish(g.text.Len(), None)
		show := g.text.String()[g.emitted:]
		g.emitted = g.text.Len()
		return show, None
	}
	return g.emit(), g.end
}

// Text returns the answer so far, or up to where the guard ended it.
func (g *Guard) Text() string {
	text := g.text.String()
	if g.end != None {
		text = text[:g.cut]
	}
	return stripUnopenedThought(text)
}

// CalledTool reports whether a tool call ended the answer.
func (g *Guard) CalledTool() bool { return g.turn.calledTool }

func (g *Guard) add(more string) {
	if more == "" {
		return
	}
	g.text.WriteString(more)
	text := g.text.String()
	if at := g.leak.add(text); at >= 0 {
		g.finish(at, Leak)
	} else if at := g.loop.add(text); at >= 0 {
		g.finish(at, Repetition)
	} else if len(text) > g.cfg.MaxBytes {
		g.finish(g.cfg.MaxBytes, Length)
	}
}

func (g *Guard) finish(at int, why Reason) {
	text := g.text.String()
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	g.cut, g.end = at, why
}

// emit returns the new text that cannot become part of a leak.
func (g *Guard) emit() string {
	to := g.text.Len()
	if g.end != None {
		to = g.cut
	} else if held := g.leak.holdFrom(); held >= 0 {
		to = held
	}
	if to <= g.emitted {
		return ""
	}
	show := g.text.String()[g.emitted:to]
	g.emitted = to
	return show
}

const (
	// loopWindow is how much of the end of a text is examined.
	loopWindow = 2048
	// maxLoopBytes may repeat one unit, at least minRepeats times: more than any ruler, list of equal
	// values or refrain.
	maxLoopBytes = 512
	minRepeats   = 4
	// maxSpaceBytes bounds white space in a row: grammars that allow any tempt small models.
	maxSpaceBytes = 256
)

// loop detects a text that ends in one unit repeated exactly. Text that is only similar, such as rows
// of a table, is left to the limit on an answer's length: no measure distinguishes it from a loop.
type loop struct {
	scanned int
	// fail is reused between scans.
	fail []int
}

// add examines a growing text at fixed positions, however it is cut into pieces. It returns where the
// second repeat begins, -1 if there is no loop.
func (l *loop) add(text string) int {
	for l.scanned+stepBytes <= len(text) {
		l.scanned += stepBytes
		if at := l.scan(text[:l.scanned]); at >= 0 {
			return at
		}
	}
	return -1
}

func (l *loop) scan(text string) int {
	tail := text[max(0, len(text)-loopWindow):]
	if space := len(tail) - len(strings.TrimRight(tail, " \t\r\n")); space > maxSpaceBytes {
		return len(text) - space
	}
	span, period := l.findPeriod(tail)
	if span == 0 {
		return -1
	}
	return len(text) - span + period
}

// findPeriod returns the longest suffix that repeats one unit: the failure function of Knuth, Morris
// and Pratt over the reversed text gives the shortest period of each suffix in one pass.
func (l *loop) findPeriod(tail string) (span, period int) {
	n := len(tail)
	if n <= maxLoopBytes {
		return 0, 0
	}
	if l.fail == nil {
		l.fail = make([]int, loopWindow)
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
		if p := i + 1 - k; i+1 > maxLoopBytes && i+1 >= minRepeats*p {
			span, period = i+1, p
		}
	}
	return span, period
}
