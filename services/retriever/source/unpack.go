package source

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// zstdWindow is the largest window of a zstd archive in bytes, which is what it holds in memory.
const zstdWindow = 128 << 20

// Dumps of graphs are some ten to sixty times as large unpacked. One that is more than maxRatio
// times as large, once it has given freely bytes, was made to fill a disk.
const (
	maxRatio       = 200
	unboundedBytes = 256 << 20
)

// archive is a way to pack a file.
type archive struct {
	name, extension string
	matches         func(head []byte) bool
	open            func(io.Reader) (io.ReadCloser, error)
}

// headBytes are enough to tell any archive.
const headBytes = 10

var archives = []archive{
	{"gzip", ".gz", hasMagic("\x1f\x8b\x08"), func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"bzip2", ".bz2", isBzip2, func(r io.Reader) (io.ReadCloser, error) {
		return io.NopCloser(bzip2.NewReader(r)),
			nil
	}},
	{"zstd", ".zst", hasMagic("\x28\xb5\x2f\xfd"), openZstd},
}

func hasMagic(bytesOf string) func([]byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(bytesOf)) }
}

// isBzip2 looks also at what follows the header, the start of a block or of the
// end, since a text may well begin with "BZh9".
func isBzip2(head []byte) bool {
	return len(head) == headBytes && string(head[:3]) == "BZh" && head[3] >= '1' && head[3] <= '9' &&
		(string(head[4:]) == "1AY&SY" || string(head[4:]) == "\x17\x72\x45\x38\x50\x90")
}

func openZstd(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// ErrCut ends the head of a file, whose last row may be cut off.
var ErrCut = errors.New("the head of the file ends")

// NewHead returns a reader of the first n bytes of in, which ends with ErrCut if in does not end before.
func NewHead(in io.Reader, n int) io.Reader { return &head{in, n} }

type head struct {
	in io.Reader
	n  int
}

func (h *head) Read(b []byte) (int, error) {
	if h.n == 0 {
		return 0, ErrCut
	}
	n, err := h.in.Read(b[:min(len(b), h.n)])
	h.n -= n
	return n, err
}

// Unpack reads a file, or the head of one, that may be a gzip, bzip2 or zstd archive, told by its
// first bytes. A name that promises an archive which the bytes are not is an
// error. Errors of a broken archive are PlaceErrors; those of r are passed on.
func Unpack(name string, r io.Reader) (io.ReadCloser, error) {
	from := &archiveReader{r: r}
	in := bufio.NewReaderSize(from, 1<<16)
	head, err := in.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) && !(len(head) > 0 && errors.Is(err, ErrCut)) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	for _, a := range archives {
		if !a.matches(head) {
			continue
		}
		out := &unpackedReader{file: name, archive: a.name, packed: from}
		if out.content, err = a.open(in); err != nil {
			return nil, out.wrapError(err)
		}
		return out, nil
	}
	for _, a := range archives {
		if strings.HasSuffix(strings.ToLower(name), a.extension) {
			return nil, &PlaceError{File: name,
				Err: fmt.Errorf(
					"the name says %s, but no %s archive begins with %q; rename the file or create it again",
					a.name, a.name, head)}
		}
	}
	return io.NopCloser(in), nil
}

// archiveReader counts the bytes of an archive and keeps the error of the underlying reader by.
type archiveReader struct {
	r     io.Reader
	bytes uint64
	err   error
}

func (p *archiveReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.bytes += uint64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		p.err = err
	}
	return n, err
}

// unpackedReader reads what an archive holds.
type unpackedReader struct {
	file, archive string
	packed        *archiveReader
	content       io.ReadCloser
	bytes         uint64
}

func (u *unpackedReader) Read(b []byte) (int, error) {
	n, err := u.content.Read(b)
	u.bytes += uint64(n)
	if u.bytes > unboundedBytes && u.bytes/maxRatio > u.packed.bytes {
		return n, &PlaceError{File: u.file, Byte: u.bytes,
			Err: fmt.Errorf("the %s archive is more than %d times as large unpacked; if that is expected, "+
				"unpack it and load the file", u.archive, maxRatio)}
	}
	if err != nil && err != io.EOF {
		err = u.wrapError(err)
	}
	return n, err
}

// Close releases what unpacking took. What it may say of the archive Read has said.
func (u *unpackedReader) Close() error {
	_ = u.content.Close()
	return nil
}

func (u *unpackedReader) wrapError(err error) error {
	if u.packed.err != nil {
		return fmt.Errorf("read %s: %w", u.file, u.packed.err)
	}
	what := "is corrupt"
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		what = "is cut off"
	}
	return &PlaceError{File: u.file, Byte: u.bytes, Err: fmt.Errorf("the %s archive %s near its byte %d: %w", u.archive,
		what, u.packed.bytes, err)}
}

// Format is how statements are written in a file.
type Format int

const (
	// Unknown is not a format.
	Unknown Format = iota
	// TSV is subject<TAB>relation<TAB>object, and at most two more columns for
	// the start and the end of validity.
	TSV
	// NTriples is W3C N-Triples 1.1.
	NTriples
	// NQuads is W3C N-Quads 1.1.
	NQuads
	// Turtle is W3C Turtle 1.1.
	Turtle
	// JSONLD is W3C JSON-LD 1.1.
	JSONLD
	// Wikidata is Wikidata's JSON dump: an array with one entity a line.
	Wikidata
	// Freebase is Freebase's RDF dump.
	Freebase
	// CSV is a table with headings.
	CSV
)

// formatByExtension are what names of files end in.
var formatByExtension = map[string]Format{
	".tsv": TSV, ".txt": TSV, ".tab": TSV,
	".nt": NTriples, ".ntriples": NTriples,
	".nq": NQuads, ".nquads": NQuads,
	".ttl": Turtle, ".turtle": Turtle,
	".jsonld": JSONLD, ".ndjsonld": JSONLD,
	".json": Wikidata, ".ndjson": Wikidata, ".jsonl": Wikidata,
	".csv": CSV,
}

// freebaseDump begins the name under which Freebase's dump is published. Under
// another the caller must name its format: it ends as N-Triples do.
const freebaseDump = "freebase-rdf"

// FormatByName detects the format by the name of a file, with or without the ending of
// an archive. ok is false for unknown names.
func FormatByName(name string) (format Format, ok bool) {
	name = strings.ToLower(name)
	for _, a := range archives {
		name = strings.TrimSuffix(name, a.extension)
	}
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if strings.HasPrefix(name, freebaseDump) {
		return Freebase, true
	}
	format, ok = formatByExtension[path.Ext(name)]
	return format, ok
}

// String names the format as people do.
func (f Format) String() string {
	names := [...]string{"unknown", "TSV", "N-Triples", "N-Quads", "Turtle", "JSON-LD", "Wikidata JSON",
		"Freebase RDF", "CSV"}
	if f < 0 || int(f) >= len(names) {
		return names[Unknown]
	}
	return names[f]
}
