package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/csv"
	"github.com/triplemesh/triplemesh/services/retriever/source/freebase"
	"github.com/triplemesh/triplemesh/services/retriever/source/jsonld"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
	"github.com/triplemesh/triplemesh/services/retriever/source/tsv"
	"github.com/triplemesh/triplemesh/services/retriever/source/turtle"
	"github.com/triplemesh/triplemesh/services/retriever/source/wikidata"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Format is how statements are written in a file.
type Format = source.Format

// Formats by their names of old; see source for all.
const (
	// ByName tells the format by the file's name.
	ByName = source.Unknown
	// TSV is subject<TAB>relation<TAB>object and validity.
	TSV = source.TSV
	// NTriples is W3C N-Triples 1.1.
	NTriples = source.NTriples
)

// reader reads files of a format and returns how many lines or statements they
// hold.
type reader func(context.Context, source.Input, source.Sink) (uint64, error)

func table(columns csv.Columns) reader {
	return func(ctx context.Context, in source.Input, to source.Sink) (uint64, error) {
		return csv.Read(ctx, in, to, columns)
	}
}

var readers = map[Format]reader{
	source.TSV:      tsv.Read,
	source.NTriples: rdf.Read,
	source.NQuads:   rdf.Read,
	source.Turtle:   turtle.Read,
	source.JSONLD:   jsonld.Read,
	source.Freebase: freebase.Read,
	source.CSV:      table(csv.Columns{}),
	source.Wikidata: func(ctx context.Context, in source.Input, to source.Sink) (uint64, error) {
		return wikidata.Read(ctx, in, to, wikidata.Options{})
	},
}

// LineError is a place that holds no statement, or a file that cannot be read
// on.
type LineError = source.PlaceError

// file is what is known of a file beforehand.
type file struct {
	identity
	format Format
	read   reader
	// sum is of the bytes of a stream as they come by; nil for a file of this
	// machine.
	sum *sum
}

// file reads a file of this machine.
func (l *Loader) file(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return l.fail(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return l.fail(err)
	}
	return l.read(ctx, f, file{identity: identity{
		Name: filepath.Base(path), Size: info.Size(), Modified: info.ModTime().UnixNano(),
	}})
}

// Read takes all of one file. A bad line is counted and reported; it is an
// error only where Options.Strict says so. After an error nothing is left of
// the load.
func (l *Loader) Read(ctx context.Context, name string, format Format, r io.Reader) error {
	return l.stream(ctx, name, format, nil, r)
}

// ReadTable is Read for a table whose columns are named.
func (l *Loader) ReadTable(ctx context.Context, name string, columns csv.Columns, r io.Reader) error {
	return l.stream(ctx, name, source.CSV, table(columns), r)
}

// ReadFrom takes all that a source has which is no file, such as a database.
// read returns how many rows there were. A load that goes on reads it anew.
func (l *Loader) ReadFrom(ctx context.Context, name string, read func(context.Context, source.Sink) (uint64, error)) error {
	if err := l.open(); err != nil {
		return l.fail(err)
	}
	f := file{identity: identity{Name: name}}
	if _, err := l.known(nil, f); err != nil {
		return l.fail(err)
	}
	l.at, l.skip = position{File: l.at.File}, 0
	if err := l.journal.note(entry{File: &fileEntry{l.at.File, f.identity}}); err != nil {
		return l.fail(err)
	}
	n, err := read(ctx, counted{l})
	l.report.Lines += n
	if err != nil {
		return l.fail(err)
	}
	return nil
}

func (l *Loader) stream(ctx context.Context, name string, format Format, read reader, r io.Reader) error {
	head := bufio.NewReaderSize(r, headBytes)
	first, err := head.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return l.fail(fmt.Errorf("read %s: %w", name, err))
	}
	s := &sum{from: head}
	return l.read(ctx, s, file{
		identity: identity{Name: name, Head: uint64(crc32.Checksum(first, castagnoli))<<32 | uint64(len(first))},
		format:   format, read: read, sum: s,
	})
}

// headBytes tell one stream from another.
const headBytes = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is a reader that sums up what it reads.
type sum struct {
	from io.Reader
	sumOfBytes
}

func (s *sum) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.Bytes += int64(n)
	s.CRC = crc32.Update(s.CRC, castagnoli, p[:n])
	return n, err
}

func (l *Loader) read(ctx context.Context, r io.Reader, f file) (err error) {
	defer func() {
		if err != nil {
			err = l.fail(err)
		}
	}()
	if err := l.open(); err != nil {
		return err
	}
	if err := f.known(); err != nil {
		return err
	}
	whole, err := l.known(r, f)
	if err != nil || whole {
		return err
	}
	if err := l.journal.note(entry{File: &fileEntry{l.at.File, f.identity}}); err != nil {
		return err
	}
	plain, err := source.Unpack(f.Name, r)
	if err != nil {
		return err
	}
	defer plain.Close()
	if n, err := io.CopyN(io.Discard, plain, l.at.Bytes); err != nil {
		return fmt.Errorf("go on with %s after %d bytes of %d: %w", f.Name, n, l.at.Bytes, err)
	}
	before := l.report
	l.report.BadLines += l.at.BadLines
	l.report.Errors = append(l.report.Errors, lineErrors(l.at.Errors)...)
	n, err := f.read(ctx, source.Input{
		Name: f.Name, Reader: plain, Number: l.at.File, Language: l.options.Language, Bad: l.bad,
		Start: source.Mark{Bytes: l.at.Bytes, Lines: l.at.Lines},
		Mark: func(m source.Mark) error {
			l.at.Bytes, l.at.Lines, l.at.Statements = m.Bytes, m.Lines, l.skip
			if bad := l.report.BadLines - before.BadLines; bad != l.at.BadLines {
				l.at.BadLines, l.at.Errors = bad, badPlaces(l.report.Errors[len(before.Errors):])
			}
			return nil
		},
	}, counted{l})
	l.report.Lines += n
	if err != nil {
		return err
	}
	return l.note(r, f, before)
}

// note says in the journal that a file was read.
func (l *Loader) note(r io.Reader, f file, before Report) error {
	done := doneEntry{
		Number: l.at.File, Lines: l.report.Lines - before.Lines, BadLines: l.report.BadLines - before.BadLines,
		Errors: badPlaces(l.report.Errors[len(before.Errors):]),
	}
	if f.sum != nil {
		// A reader may stop before its file does, as gzip's does before padding.
		if _, err := io.Copy(io.Discard, r); err != nil {
			return fmt.Errorf("read %s: %w", f.Name, err)
		}
		done.Sum = &f.sum.sumOfBytes
	}
	return l.journal.note(entry{Done: &done})
}

// open makes a load ready to read.
func (l *Loader) open() error {
	if l.builder.now == nil {
		return fmt.Errorf("the load is over: %w", store.ErrInvalid)
	}
	return l.begin()
}

// known finds the format and the reader of a file.
func (f *file) known() error {
	if f.format == ByName {
		var ok bool
		if f.format, ok = source.ByName(f.Name); !ok {
			return fmt.Errorf("%s: the name tells no format; .tsv, .nt, .nq, .ttl, .jsonld, .json (Wikidata) and .csv are known, also packed as .gz, .bz2 or .zst: %w", f.Name, store.ErrInvalid)
		}
	}
	f.Format = f.format.String()
	if f.read == nil {
		f.read = readers[f.format]
	}
	if f.read == nil {
		return fmt.Errorf("%s: format %d is not known: %w", f.Name, f.format, store.ErrInvalid)
	}
	return nil
}

// known goes to the next file and looks it up in the history of a load that
// goes on: whole says that all of it is in batches already. Else l.at is where
// to go on in it.
func (l *Loader) known(r io.Reader, f file) (whole bool, err error) {
	number := l.at.File + 1
	l.at, l.skip = position{File: number}, 0
	if l.past == nil || number > l.past.at().File {
		return false, nil
	}
	was := l.past.files[number].identity
	if was != f.identity {
		return false, fmt.Errorf("the load that was interrupted had as file %d %s (%s, %d bytes), now it is %s (%s, %d bytes), or it was changed; load without resume to begin anew: %w",
			number, was.Name, was.Format, was.Size, f.Name, f.Format, f.Size, store.ErrInvalid)
	}
	if number == l.past.at().File {
		l.at = l.past.at()
		l.skip = l.at.Statements
		return false, nil
	}
	done, ok := l.past.done[number]
	if !ok {
		return false, nil
	}
	if f.sum != nil {
		if _, err := io.Copy(io.Discard, r); err != nil {
			return false, fmt.Errorf("read %s: %w", f.Name, err)
		}
		if done.Sum == nil || *done.Sum != f.sum.sumOfBytes {
			return false, fmt.Errorf("%s is not what it was when the load was interrupted; load without resume to begin anew: %w", f.Name, store.ErrInvalid)
		}
	}
	l.report.Lines += done.Lines
	l.report.BadLines += done.BadLines
	errs := lineErrors(done.Errors)
	l.report.Errors = append(l.report.Errors, errs[:min(len(errs), maxErrors-len(l.report.Errors))]...)
	return true, nil
}

func (l *Loader) bad(err *LineError) error {
	l.report.BadLines++
	if len(l.report.Errors) < maxErrors {
		l.report.Errors = append(l.report.Errors, err)
	}
	if l.options.Strict {
		return err
	}
	return nil
}

// counted is the sink of one file. It leaves out the statements that are in
// batches already; labels and aliases that come again change nothing.
type counted struct{ *Loader }

func (c counted) Statement(s source.Statement) error {
	if c.skip > 0 {
		c.skip--
		return nil
	}
	c.at.Statements++
	err := c.builder.Statement(s)
	if taken := c.builder.statements(); taken%progressStatements == 0 {
		c.tell(Progress{Phase: Read, Done: taken})
	}
	return err
}

func (c counted) Label(key, name string, rank int) error { return c.builder.Label(key, name, rank) }
func (c counted) Alias(key, name string) error           { return c.builder.Alias(key, name) }
