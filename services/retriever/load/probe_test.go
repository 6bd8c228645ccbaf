package load

import (
	"strings"
	"testing"
)

func TestProbe(t *testing.T) {
	for _, tt := range []struct {
		name, file, text string
		statements       int
		bad              bool
		fails            string
	}{
		{"all lines are facts", "a.tsv", "a\tb\tc\nd\te\tf\n", 2, false, ""},
		{"enough is enough", "a.tsv", strings.Repeat("a\tb\tc\n", 50), 10, false, ""},
		{"bad lines are passed over", "a.tsv", "a\nb\tc\td\n", 1, true, ""},
		{"a file of nothing but bad lines is not read to its end", "a.tsv", strings.Repeat("a\n", 50), 0, true, ""},
		{"turtle", "a.ttl", "<urn:a> <urn:b> <urn:c> .", 1, false, ""},
		{"an unknown ending", "a.doc", "", 0, false, "format cannot be told"},
		{"a name that promises an archive", "a.tsv.gz", "a\tb\tc\n", 0, false, "gzip"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, bad, err := Probe(t.Context(), tt.file, DetectFormat, strings.NewReader(tt.text), 10)
			if n != tt.statements || (bad != nil) != tt.bad || (err == nil) != (tt.fails == "") || err != nil &&
				!strings.Contains(err.Error(), tt.fails) {
				t.Errorf("saw %d, bad %v, error %v", n, bad, err)
			}
		})
	}
}
