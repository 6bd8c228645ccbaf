package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheFormatOfAFileIsKnownByItsBeginning(t *testing.T) {
	for _, tt := range []struct{ name, file, text, format, fails string }{
		{"facts", "a.tsv", "Ada\tknows\tCharles\n", "TSV", ""},
		{"facts and a line that is none", "a.tsv", "hello\nAda\tknows\tCharles\n", "TSV", ""},
		{"turtle", "a.ttl", "<urn:a> <urn:b> <urn:c> .\n", "Turtle", ""},
		{"a table", "a.csv", "subject,relation,object\nAda,knows,Charles\n", "CSV", ""},
		{"no fact at all", "a.tsv", "hello\nworld\n", "", "holds no facts as TSV"},
		{"turtle that is none", "a.ttl", "hello world", "", "holds no facts as Turtle"},
		{"nothing", "a.nt", "", "", "is empty"},
		{"comments alone", "a.nt", "# soon\n", "", "downloaded whole"},
		{"a name that tells no format", "a.doc", "hello", "", "--format"},
		{"a web page", "a.ttl", "<!DOCTYPE html>", "", "web page"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), tt.file)
			if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			format, err := ProbeFile(t.Context(), path)
			if format != tt.format || (err == nil) != (tt.fails == "") || err != nil &&
				!strings.Contains(err.Error(), tt.fails) {
				t.Errorf("it is %q, %v", format, err)
			}
		})
	}
}

func FuzzCheckText(f *testing.F) {
	for _, seed := range []string{"", "Ada\tknows\tCharles", "\xef\xbb\xbf<html>", "PK\x03\x04", "caf\xe9", "caf\xc3",
		"\x00", "<?xml"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		err := checkText("facts.tsv", head)
		if err != nil && !strings.HasPrefix(err.Error(), "facts.tsv is ") {
			t.Errorf("%q is told as %v", head, err)
		}
		// The sample may end within a character.
		if err == nil && len(head) > 0 && checkText("facts.tsv", append([]byte("Ada\t"), head...)) != nil {
			t.Errorf("%q is no text after text", head)
		}
	})
}
