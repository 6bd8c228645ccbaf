package encoder

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// small is a vocabulary of a few pieces.
const small = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\nhello\n,\n!\n##able,\n東\n"

func newSmall(t testing.TB) *Tokenizer {
	tokenizer, err := NewTokenizer(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

func TestEncode(t *testing.T) {
	tokenizer := newSmall(t)
	for name, c := range map[string]struct {
		text  string
		limit int
		want  []int64
	}{
		"nothing is only the frame":                  {"", 16, []int64{2, 3}},
		"a word is split from the left":              {"unaffable", 16, []int64{2, 4, 5, 6, 3}},
		"case and accents do not matter":             {"HÉLLÓ", 16, []int64{2, 7, 3}},
		"punctuation stands alone":                   {"hello,hello!", 16, []int64{2, 7, 8, 7, 9, 3}},
		"a Chinese character stands alone":           {"hello東hello", 16, []int64{2, 7, 11, 7, 3}},
		"a word that cannot be split is unknown":     {"unhello hello", 16, []int64{2, 1, 7, 3}},
		"a word of 101 characters is unknown":        {strings.Repeat("un", 50) + "u", 16, []int64{2, 1, 3}},
		"a long text is cut and still has its frame": {"hello unaffable hello", 4, []int64{2, 7, 4, 3}},
		"a limit of two leaves the frame":            {"hello", 2, []int64{2, 3}},
		"a special piece in the text stays text":     {"[SEP]", 16, []int64{2, 1, 1, 1, 3}},
		"invisible characters vanish":                {"he\u200bl\x00lo", 16, []int64{2, 7, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tokenizer.Encode(c.text, c.limit); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestNewTokenizerRefusesOtherFiles(t *testing.T) {
	for _, text := range []string{"", "hello\n", "[CLS]\n[SEP]\n", strings.Repeat("x", 1<<17)} {
		if _, err := NewTokenizer(strings.NewReader(text)); err == nil {
			t.Errorf("a vocabulary of %.20q… was taken", text)
		}
	}
}

// TestIDsMatchTheReferenceTokenizer compares with the ids that Hugging Face's
// tokenizers 0.23 gives for all-MiniLM-L6-v2; testdata/README.md says how they
// were made.
func TestIDsMatchTheReferenceTokenizer(t *testing.T) {
	vocabulary, err := os.Open(testkit.Cache(t, "encoder", "vocab.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer vocabulary.Close()
	tokenizer, err := NewTokenizer(vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	path := "testdata/ids.jsonl"
	if other := os.Getenv("WORDPIECE_IDS"); other != "" {
		path = other
	}
	golden, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer golden.Close()
	lines := bufio.NewScanner(golden)
	lines.Buffer(nil, 1<<20)
	n := 0
	for ; lines.Scan(); n++ {
		var want struct {
			Text string
			IDs  []int64
		}
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		if got := tokenizer.Encode(want.Text, 256); !slices.Equal(got, want.IDs) {
			t.Errorf("%q:\n got %v\nwant %v", want.Text, got, want.IDs)
		}
	}
	if lines.Err() != nil || n < 250 {
		t.Errorf("read %d texts only: %v", n, lines.Err())
	}
}

func FuzzEncode(f *testing.F) {
	for _, seed := range []string{"", "unaffable hello!", "HÉ\u0301LLO", "東京\x00\xff", strings.Repeat("un", 60)} {
		f.Add(seed, 8)
	}
	tokenizer := newSmall(f)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = 2 + limit&0x1ff
		ids := tokenizer.Encode(text, limit)
		if len(ids) < 2 || len(ids) > limit || ids[0] != 2 || ids[len(ids)-1] != 3 {
			t.Errorf("%q, limit %d: got %v", text, limit, ids)
		}
		for word := range splitWords(text) {
			if word == "" || !utf8.ValidString(word) || strings.ContainsFunc(word, unicode.IsSpace) {
				t.Errorf("%q holds the word %q", text, word)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	tokenizer := newSmall(b)
	for b.Loop() {
		tokenizer.Encode("Hello unaffable, Hermann Hesse country of citizenship Switzerland", 256)
	}
}
