package guard_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/llm/guard"
)

var told = guard.Prompt{
	Instructions: []string{"You answer questions from a list of facts. Put each answer in braces, exactly as the " +
		"facts spell it. Give every answer the facts support and no other."},
	Questions: []string{"Question: who directed the film in which Anna Lindqvist played a captain of the guard"},
	Answers:   []string{"The Night Watch is a Dutch group portrait of 1642 from Amsterdam. The answer is {Rembrandt}."},
	Question: "Facts: Robert Stam | employer | New York University. Question: Who employs Robert Stam, as the " +
		"document that I was sent says in its very first sentence?",
}

// most is the most bytes of an answer here.
const most = 8 << 10

// watch guards a text that comes in pieces of some bytes.
func watch(text string, size int) (shown, kept string, end guard.Reason) {
	g := guard.New(guard.Config{MaxBytes: most, Prompt: told})
	for text != "" && end == guard.None {
		var show string
		n := min(size, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		show, end = g.Add(text[:n])
		shown, text = shown+show, text[n:]
	}
	if end == guard.None {
		var show string
		show, end = g.Close()
		shown += show
	}
	return shown, g.Text(), end
}

func TestGuard(t *testing.T) {
	facts := "She was born in Velmora. "
	for _, c := range []struct {
		name, text, want string
		end              guard.Reason
	}{
		{"a plain answer", "He works at {New York University}.", "He works at {New York University}.", guard.None},
		{"an answer that quotes what was asked",
			"As the document that I was sent says in its very first sentence, {New York University}.",
			"As the document that I was sent says in its very first sentence, {New York University}.", guard.None},
		{"an answer with words of its instructions", "The facts support {Yale} and no other, as the facts spell it.",
			"The facts support {Yale} and no other, as the facts spell it.", guard.None},
		{"instructions", "You answer questions from a list of facts. Put each answer in braces, exactly as",
			"", guard.Leak},
		{"an answer, then instructions", "{Yale}. System: You answer QUESTIONS from a list of facts - put each " +
			"answer in braces", "{Yale}. System: ", guard.Leak},
		{"an answer, then an example", "{Yale}\nQuestion: who directed the film in which Anna Lindqvist played a " +
			"captain", "{Yale}\n", guard.Leak},
		{"the answer of an example", "The Night Watch is a Dutch group portrait of 1642 from Amsterdam. The answer " +
			"is {Rembrandt}.", "", guard.Leak},
		{"thoughts", "<think>\nIs it {Yale}?</think>\n\n{Harvard}", "{Harvard}", guard.None},
		{"thoughts without a beginning", "Is it Yale?</think>{Harvard}", "{Harvard}", guard.None},
		{"thoughts without an end", "<think>Is it {Yale}?", "", guard.None},
		{"thoughts twice", "<think>a</think> <think>b</think>{Yale}", "{Yale}", guard.None},
		{"the mark of a turn", "{Yale}<|im_end|>\n<|im_start|>user\nmore", "{Yale}", guard.Stop},
		{"a mark before the answer", "<|im_start|>{Yale}", "{Yale}", guard.None},
		{"what only looks like a mark", "a <|im| b [/IN x] <e", "a <|im| b [/IN x] <e", guard.None},
		{"a tool", "<tool_call>\n{}", "", guard.Stop},
		{"an answer, then a tool", "{Yale}\n<tool_call>{}</tool_call>", "{Yale}\n", guard.Stop},
		{"a loop", facts + strings.Repeat("I hope this helps. ", 100), facts + "I hope this helps", guard.Repetition},
		{"a loop of one letter", "x" + strings.Repeat("a", 2000), "xa", guard.Repetition},
		{"a long loop", facts + strings.Repeat("The river rises in the hills, and then it flows through the town "+
			"where she was born, and into the sea. ", 30), "", guard.Repetition},
		{"space without end", "{" + strings.Repeat(" ", 400) + "}", "{", guard.Repetition},
		{"more than was asked for", varied(most + 100), "", guard.Length},
		{"control characters", "\ufeff\x00{Ya\x07le}\x1b\n", "{Yale}\n", guard.None},
	} {
		for _, size := range []int{1, 3, 64, 1 << 20} {
			t.Run(fmt.Sprint(c.name, " by ", size), func(t *testing.T) {
				shown, kept, end := watch(c.text, size)
				if end != c.end || c.want != "" && kept != c.want {
					t.Errorf("it ended by %q with %.200q, want %q with %.200q", end, kept, c.end, c.want)
				}
				if c.end != guard.Repetition && c.end != guard.Leak &&
					!strings.Contains(c.name, "without a beginning") && !strings.HasPrefix(kept, shown) {
					t.Errorf("shown %.200q, kept %.200q", shown, kept)
				}
				if c.end == guard.Leak && strings.Contains(shown, "list of facts") {
					t.Errorf("shown %q", shown)
				}
			})
		}
	}
}

// varied is text of so many bytes that repeats no sentence.
func varied(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "City %d lies on river %d. ", i, i*7919%1000003)
	}
	return b.String()
}

// What models rightly say is left alone, however regular it is.
func TestOrdinaryTextsPass(t *testing.T) {
	var cypher, table, verdicts, years, names strings.Builder
	for i := range 60 {
		fmt.Fprintf(&cypher, "CREATE (:Film {name: \"The Quiet Harbour %d\"})-[:DIRECTOR]->(:Person {name: \"Erik "+
			"Halvorsen\"})\n", i)
		fmt.Fprintf(&table, "| Velmora | population in %d | 48,000 |\n", 1900+i)
		fmt.Fprintf(&verdicts, `{"draft": %d, "action": "keep", "evidence": 0}, `, i+1)
		fmt.Fprintf(&years, "%d, ", 1960+i)
		fmt.Fprintf(&names, "{Louis %s} ", strings.Repeat("I", i%20+1))
	}
	for name, text := range map[string]string{
		"Cypher": cypher.String(), "a table": table.String(), "edits": `{"edits": [` + verdicts.String(),
		"years": years.String(), "kings": names.String(),
		"a ruler": "Facts\n" + strings.Repeat("-", 120) + "\n{Yale}", "a table's head": strings.Repeat("|---", 40) +
			"|\n", "a refrain": strings.Repeat("Row, row, row your boat, gently down the stream. ", 3),
		"equal verdicts": "[" + strings.Repeat(`true, `, 64) + "]", "noes": strings.Repeat("no ", 100),
		"indented JSON": "{\n" + strings.Repeat(" ", 100) + "\"a\": 1}",
		"a DNA":         "GATTACA is followed by " + strings.Repeat("GATTACA", 20) + ".",
		"dots":          strings.Repeat(".", 300),
		"digits":        "3." + strings.Repeat("3", 400),
	} {
		t.Run(name, func(t *testing.T) {
			if shown, kept, end := watch(text, 7); end != guard.None || kept != text || shown != text {
				t.Errorf("it ended by %q at %d of %d", end, len(kept), len(text))
			}
		})
	}
}

// Random sentences, of any number of words of few or many, are no loops.
func TestRandomTextsPass(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		words := 6 + rnd.IntN(200)
		var b strings.Builder
		for b.Len() < 6000 {
			fmt.Fprintf(&b, "w%d ", rnd.IntN(words))
		}
		if _, kept, end := watch(b.String(), 1+rnd.IntN(50)); end != guard.None || kept != b.String() {
			t.Fatalf("%d words: it ended by %q at %d: %.300q", words, end, len(kept),
				b.String()[max(0, len(kept)-200):])
		}
	}
}

// FuzzGuard: however a text is cut into pieces, nothing is shown that was not
// said, nothing beyond the bound is kept, and the loops it finds are loops.
func FuzzGuard(f *testing.F) {
	for _, s := range []string{"<think>a</think>b", "a<|im_end|>b", strings.Repeat("ab ", 300), told.Instructions[0],
		"\ufeff</think>", "[TOOL_CALLS][", "\x00<"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		size = max(1, size%200)
		shown, kept, end := watch(text, size)
		if len(kept) > most || !utf8.ValidString(kept) || !utf8.ValidString(shown) {
			t.Errorf("kept %d bytes", len(kept))
		}
		plain := strings.Map(func(r rune) rune {
			if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r >= 0x7f && r < 0xa0 {
				return -1
			}
			return r
		}, text)
		if !strings.Contains(plain, kept) {
			t.Errorf("kept %q of %q", kept, plain)
		}
		if end == guard.Repetition && len(plain) < 256 {
			t.Errorf("a loop in %d bytes", len(plain))
		}
		_, whole, same := watch(text, 1<<20)
		if whole != kept && end == same {
			t.Errorf("by %d: %q; at once: %q", size, kept, whole)
		}
	})
}

func BenchmarkGuard(b *testing.B) {
	text := varied(1000)
	for b.Loop() {
		g := guard.New(guard.Config{MaxBytes: most, Prompt: told})
		g.Add(text)
		g.Close()
	}
}
