package source_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestFormatByName(t *testing.T) {
	for name, want := range map[string]source.Format{
		"facts.tsv": source.TSV, "facts.TXT": source.TSV, "facts.tab.gz": source.TSV,
		"a.nt": source.NTriples, "a.nt.bz2": source.NTriples, "a.nq.zst": source.NQuads, "a.ttl": source.Turtle,
		"a.jsonld": source.JSONLD, "latest-all.json.bz2": source.Wikidata, "entities.ndjson.gz": source.Wikidata,
		"dir.nt/a.csv": source.CSV, `dir\a.csv.gz`: source.CSV,
		"data/freebase-rdf-latest.gz": source.Freebase, "freebase.nt": source.NTriples,
		"": source.Unknown, "a": source.Unknown, "a.gz": source.Unknown, "a.xlsx": source.Unknown, "nt": source.Unknown,
	} {
		if got, ok := source.FormatByName(name); got != want || ok != (want != source.Unknown) {
			t.Errorf("%q is %v, %v; want %v", name, got, ok, want)
		}
	}
	if got := source.Format(99).String() + source.CSV.String(); got != "unknownCSV" {
		t.Errorf("formats are named %q", got)
	}
}

const plain = "a\tis\tb\nc\tis\td\n"

func gzipped(t testing.TB, text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t testing.TB, text string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

const bzip2OfPlain = "425a68393141592653598447611b000003418000303c200" +
	"800200021a683d210c088b3801ba8bc5dc914e14242111d846c"

// bzipped is plain as bzip2 packs it.
func bzipped(t testing.TB) string {
	b, err := hex.DecodeString(bzip2OfPlain)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestUnpack(t *testing.T) {
	for name, c := range map[string]struct{ file, bytes, want, err string }{
		"a plain file is itself":                       {"a.tsv", plain, plain, ""},
		"an empty file is empty":                       {"a.tsv", "", "", ""},
		"gzip is unpacked":                             {"a.tsv.gz", gzipped(t, plain), plain, ""},
		"members of gzip follow one another":           {"a.tsv.gz", gzipped(t, "a") + gzipped(t, "b"), "ab", ""},
		"bzip2 is unpacked":                            {"a.tsv.bz2", bzipped(t), plain, ""},
		"archives of bzip2 follow one another":         {"a.tsv.bz2", bzipped(t) + bzipped(t), plain + plain, ""},
		"zstd is unpacked":                             {"a.tsv.zst", zstandard(t, plain), plain, ""},
		"the bytes tell an archive, not the name":      {"a.tsv", gzipped(t, plain), plain, ""},
		"nor the wrong name":                           {"a.tsv.gz", bzipped(t), plain, ""},
		"a text may begin as an archive does":          {"a.tsv", "BZh9 is a name\n", "BZh9 is a name\n", ""},
		"a name that promises an archive must hold it": {"a.tsv.gz", plain, "", "a.tsv.gz, byte 0: the name says gzip"},
		"an empty archive is an error":                 {"a.tsv.bz2", "", "", "no bzip2 archive begins with \"\""},
		"gzip that is cut off": {"a.gz", gzipped(t, plain)[:25], "",
			"the gzip archive is cut off near its byte 25"},
		"gzip that is cut off in its head": {"a.gz", gzipped(t, plain)[:8], "",
			"a.gz, byte 0: the gzip archive is cut off near its byte 8"},
		"gzip with a wrong byte": {"a.gz", spoil(gzipped(t, plain)), "",
			"the gzip archive is corrupt"},
		"gzip with something behind it": {"a.gz", gzipped(t, plain) + "a text", "",
			"a.gz, byte 14: the gzip archive is c"},
		"bzip2 that is cut off": {"a.bz2", bzipped(t)[:30], "",
			"the bzip2 archive is cut off near its byte 30"},
		"bzip2 with a wrong byte": {"a.bz2", spoil(bzipped(t)), "",
			"the bzip2 archive is corrupt"},
		"zstd that is cut off": {"a.zst", zstandard(t, plain)[:14], "",
			"the zstd archive is cut off near its byte 14"},
		"zstd with a wrong byte": {"a.zst", spoil(zstandard(t, plain)), "",
			"the zstd archive is corrupt"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := unpack(c.file, strings.NewReader(c.bytes))
			if c.err == "" {
				if err != nil || got != c.want {
					t.Errorf("got %q, error %v, want %q", got, err, c.want)
				}
				return
			}
			var place *source.PlaceError
			if err == nil || !strings.Contains(err.Error(), c.err) || !errors.As(err, &place) || place.File != c.file {
				t.Errorf("error %v, want a place and %q", err, c.err)
			}
		})
	}
}

func unpack(file string, r io.Reader) (string, error) {
	in, err := source.Unpack(file, r)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(in)
	if closed := in.Close(); err == nil {
		err = closed
	}
	return string(text), err
}

func spoil(archive string) string {
	b := []byte(archive)
	b[len(b)-6] ^= 0x55
	return string(b)
}

func TestAConnectionErrorIsNotABadLine(t *testing.T) {
	broken := errors.New("the connection broke")
	for _, archive := range []string{gzipped(t, plain), bzipped(t), zstandard(t, plain), plain, ""} {
		_, err := unpack("a", io.MultiReader(strings.NewReader(archive[:len(archive)*3/4]), iotest.ErrReader(broken)))
		var place *source.PlaceError
		if !errors.Is(err, broken) || errors.As(err, &place) {
			t.Errorf("error %v, want %v without a place", err, broken)
		}
	}
}

func TestAnErrorWithinTheFirstBytesIsNotTheEndOfTheFile(t *testing.T) {
	broken := errors.New("the connection broke")
	text := "ab"
	failsOnce := readerFunc(func(b []byte) (int, error) {
		n, err := copy(b, text), broken
		if text == "" {
			err = io.EOF
		}
		text = ""
		return n, err
	})
	if got, err := unpack("a", failsOnce); !errors.Is(err, broken) {
		t.Errorf("got %q, error %v, want %v", got, err, broken)
	}
}

type readerFunc func(b []byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestPlaceError(t *testing.T) {
	cause := errors.New("three columns are missing")
	for _, c := range []struct {
		err  source.PlaceError
		want string
		meta map[string]string
	}{
		{source.PlaceError{File: "a.tsv", Line: 7, Err: cause}, "a.tsv:7: three columns are missing",
			map[string]string{"file": "a.tsv", "line": "7"}},
		{source.PlaceError{File: "a.gz", Byte: 9, Err: cause}, "a.gz, byte 9: three columns are missing",
			map[string]string{"file": "a.gz", "byte": "9"}},
	} {
		s := status.Convert(&c.err)
		if c.err.Error() != c.want || !errors.Is(&c.err, cause) || s.Code() != codes.InvalidArgument ||
			s.Message() != c.want {
			t.Errorf("got %v as %v, want %q", &c.err, s, c.want)
		}
		info, ok := s.Details()[0].(*errdetails.ErrorInfo)
		if !ok || info.GetReason() != "BAD_LINE" || len(info.GetMetadata()) != len(c.meta) {
			t.Fatalf("details %v", s.Details())
		}
		for key, want := range c.meta {
			if info.GetMetadata()[key] != want {
				t.Errorf("%s is %q, want %q", key, info.GetMetadata()[key], want)
			}
		}
	}
}

func TestWithLine(t *testing.T) {
	cut := &source.PlaceError{File: "a.gz", Byte: 9, Err: io.ErrUnexpectedEOF}
	if err := source.WithLine("a.gz", 3, cut); err.Error() != "a.gz:3: unexpected EOF" {
		t.Errorf("got %v", err)
	}
	if err := source.WithLine("b", 4, &source.PlaceError{File: "a", Line: 3, Err: io.EOF}); err.Error() != "a:3: EOF" {
		t.Errorf("got %v", err)
	}
	if err := source.WithLine("b", 4,
		io.ErrClosedPipe); err.Error() != "read b, line 4: io: read/write on closed pipe" ||
		!errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

func TestNormalizeName(t *testing.T) {
	for in, want := range map[string]string{
		"Paris": "Paris", " Paris \n": "Paris", "a\tb\r\nc": "a b c", "a  b": "a b", "é\u0085\u2028b": "é b",
		"\x00a": "a", "東京 都": "東京 都",
		"": "the name is empty", "\t\u200a": "the name is empty", "\xff": "the name is not UTF-8",
		strings.Repeat("a", source.MaxName): strings.Repeat("a", source.MaxName),
		strings.Repeat("a", 70000):          "the name has 70000 bytes, the limit is 65536",
	} {
		got, err := source.NormalizeName("name", in)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.40q becomes %.80q, want %.80q", in, got, want)
		}
	}
}

func TestDatesAndNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " 1997 ": "1997", "+1997-07": "1997-07", "-0044-03-15": "-0044-03-15",
		"2001-01-01T00:00:00Z": "2001-01-01T00:00:00Z",
		"1997":                 "1997", "1997-07-01": "1997-07-01", "1997/07/01": "error", "1997-0x": "error",
		"19970": "19970",
		"abcd":  "error",
		"97":    "error", "1997-7": "error", "today": "error", "1997-07-01T": "error",
	} {
		got, err := source.NormalizeDate("start", in)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]bool{
		"1": true, "-1.5": true, "+.5": true, "1.": true, "6.02e23": true, "1E-5": true,
		"5e": false, "e5": false, "1e5x": false, "1.5.2": false, "+": false, "1 ": false, "-": false,
		"": false, ".": false, "1e": false, "INF": false, "NaN": false, "1,000": false, "0x1": false,
	} {
		if source.IsNumber(in) != want {
			t.Errorf("%q is a number: %v, want %v", in, !want, want)
		}
	}
}

func TestReadableName(t *testing.T) {
	for iri, want := range map[string]string{
		"http://x/a#S%C3%A3o_Paulo": "São Paulo", "http://x/b/": "b", "http://x/100%": "100%", "urn:a:b": "urn:a:b",
		"http://x/%ff": "", "http://x/%00": "",
	} {
		if got, ok := source.ReadableName(iri); got != want || ok != (want != "") {
			t.Errorf("%q reads %q, want %q", iri, got, want)
		}
	}
}

func TestLanguages(t *testing.T) {
	for _, c := range []struct {
		wanted, language string
		want             int
	}{
		{"", "en", 0}, {"", "EN", 0}, {"en", "en-GB", 1}, {"pt-BR", "pt-br", 0}, {"pt-br", "pt", 1}, {"en", "", 2},
		{"en", "de", 3}, {"en", "eng", 3}, {"de", "en", 3},
	} {
		if got := source.NewLanguages(c.wanted).Rank(c.language); got != c.want {
			t.Errorf("%q for one who wants %q has rank %d, want %d", c.language, c.wanted, got, c.want)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	for _, seed := range []string{plain, gzipped(f, plain), bzipped(f), zstandard(f, plain), ""} {
		f.Add("a.gz", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, name string, packed []byte) {
		in, err := source.Unpack(name, bytes.NewReader(packed))
		var place *source.PlaceError
		if err == nil {
			// An archive may unpack to very much.
			_, err = io.Copy(io.Discard, io.LimitReader(in, 1<<20))
			if in.Close() != nil {
				t.Error("cannot be closed")
			}
		}
		if err != nil && !errors.As(err, &place) {
			t.Errorf("%q: %v has no place", name, err)
		}
	})
}
