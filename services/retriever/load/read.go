package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
	"github.com/triplemesh/triplemesh/services/retriever/source/table"
	"github.com/triplemesh/triplemesh/services/retriever/source/wikidata"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Format is how statements are written in a file.
type Format = source.Format

// The most used formats; see package source for all.
const (
	// DetectFormat detects the format by the file's name.
	DetectFormat = source.Unknown
	// TSV is subject<TAB>relation<TAB>object and validity.
	TSV = source.TSV
	// NTriples is W3C N-Triples 1.1.
	NTriples = source.NTriples
)

// reader reads files of a format and returns how many lines or statements they hold.
type reader func(context.Context, source.Input, source.Sink) (uint64, error)

func tableReader(columns table.Columns) reader {
	return func(ctx context.Context, in source.Input, to source.Sink) (uint64, error) {
		return table.ReadCSV(ctx, in, to, columns)
	}
}

var readers = map[Format]reader{
	source.TSV:      table.ReadTSV,
	source.NTriples: rdf.Read,
	source.NQuads:   rdf.Read,
	source.Turtle:   rdf.ReadTurtle,
	source.JSONLD:   rdf.ReadJSONLD,
	source.Freebase: rdf.ReadFreebase,
	source.CSV:      tableReader(table.Columns{}),
	source.Wikidata: func(ctx context.Context, in source.Input, to source.Sink) (uint64, error) {
		return wikidata.Read(ctx, in, to, wikidata.Options{})
	},
}

// LineError is a place that holds no statement, or a file that cannot be read on.
type LineError = source.PlaceError

// file is what is known about a file in advance.
type file struct {
	identity
	format Format
	read   reader
	// sum is of the bytes of a stream as they come by; nil for a source that is none.
	sum *checksumReader
}

// Read takes all of one file. A bad line is counted and reported; it is an error only if
// Options.Strict is set. After an error nothing remains of the load.
func (l *Loader) Read(ctx context.Context, name string, format Format, r io.Reader) error {
	return l.readStream(ctx, name, format, nil, r)
}

// ReadTable is Read for a table with the given columns.
func (l *Loader) ReadTable(ctx context.Context, name string, columns table.Columns, r io.Reader) error {
	return l.readStream(ctx, name, source.CSV, tableReader(columns), r)
}

// ReadFrom takes all that a source has which is not a file, such as a database.
// read returns how many rows there were. A load that continues reads it again.
func (l *Loader) ReadFrom(ctx context.Context, name string, read func(context.Context, source.Sink) (uint64,
	error)) error {
	if err := l.ensureOpen(); err != nil {
		return l.fail(err)
	}
	f := file{identity: identity{Name: name}}
	if _, err := l.nextFile(nil, f); err != nil {
		return l.fail(err)
	}
	l.position, l.skip = position{File: l.position.File}, 0
	if err := l.journal.record(journalEntry{File: &fileEntry{l.position.File, f.identity}}); err != nil {
		return l.fail(err)
	}
	n, err := read(ctx, fileSink{l, name})
	l.report.Lines += n
	if err != nil {
		return l.fail(err)
	}
	return nil
}

func (l *Loader) readStream(ctx context.Context, name string, format Format, read reader, r io.Reader) error {
	head := bufio.NewReaderSize(r, headBytes)
	first, err := head.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return l.fail(fmt.Errorf("read %s: %w", name, err))
	}
	s := &checksumReader{from: head}
	return l.readInput(ctx, s, file{
		identity: identity{Name: name, Head: uint64(crc32.Checksum(first, castagnoli))<<32 | uint64(len(first))},
		format:   format, read: read, sum: s,
	})
}

// headBytes tell one stream from another.
const headBytes = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksumReader is a reader that sums up what it reads.
type checksumReader struct {
	from io.Reader
	streamSum
}

func (s *checksumReader) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.Bytes += int64(n)
	s.CRC = crc32.Update(s.CRC, castagnoli, p[:n])
	return n, err
}

func (l *Loader) readInput(ctx context.Context, r io.Reader, f file) (err error) {
	defer func() {
		if err != nil {
			err = l.fail(err)
		}
	}()
	if err := l.ensureOpen(); err != nil {
		return err
	}
	if err := f.detectFormat(); err != nil {
		return err
	}
	whole, err := l.nextFile(r, f)
	if err != nil || whole {
		return err
	}
	if err := l.journal.record(journalEntry{File: &fileEntry{l.position.File, f.identity}}); err != nil {
		return err
	}
	plain, err := source.Unpack(f.Name, r)
	if err != nil {
		return err
	}
	defer plain.Close()
	if n, err := io.CopyN(io.Discard, plain, l.position.Bytes); err != nil {
		return fmt.Errorf("resume %s after %d bytes of %d: %w", f.Name, n, l.position.Bytes, err)
	}
	before := l.report
	l.report.BadLines += l.position.BadLines
	l.report.Errors = append(l.report.Errors, toLineErrors(l.position.Errors)...)
	n, err := f.read(ctx, source.Input{
		Name: f.Name, Reader: plain, Number: l.position.File, Language: l.options.Language, Bad: l.reject,
		Provenance: l.options.Provenance,
		Start:      source.Mark{Bytes: l.position.Bytes, Lines: l.position.Lines},
		Mark: func(m source.Mark) error {
			l.position.Bytes, l.position.Lines, l.position.Statements = m.Bytes, m.Lines, l.skip
			if bad := l.report.BadLines - before.BadLines; bad != l.position.BadLines {
				l.position.BadLines, l.position.Errors = bad, toBadPlaces(l.report.Errors[len(before.Errors):])
			}
			return nil
		},
	}, fileSink{l, f.Name})
	l.report.Lines += n
	if err != nil {
		return err
	}
	return l.recordFile(r, f, before)
}

// recordFile says in the journal that a file was read.
func (l *Loader) recordFile(r io.Reader, f file, before Report) error {
	done := doneEntry{
		Number: l.position.File, Lines: l.report.Lines - before.Lines, BadLines: l.report.BadLines - before.BadLines,
		Errors: toBadPlaces(l.report.Errors[len(before.Errors):]),
	}
	if f.sum != nil {
		// A reader may stop before its file does, as gzip's does before padding.
		if _, err := io.Copy(io.Discard, r); err != nil {
			return fmt.Errorf("read %s: %w", f.Name, err)
		}
		done.Sum = &f.sum.streamSum
	}
	return l.journal.record(journalEntry{Done: &done})
}

// ensureOpen makes a load ready to read.
func (l *Loader) ensureOpen() error {
	if l.builder.current == nil {
		return store.Invalidf("the load is over")
	}
	return l.begin()
}

// detectFormat finds the format and the reader of a file.
func (f *file) detectFormat() error {
	if f.format == DetectFormat {
		var ok bool
		if f.format, ok = source.FormatByName(f.Name); !ok {
			return store.Invalidf("%s: the format cannot be told from the name; want .tsv, .nt, .nq, .ttl, .jsonld, "+
				".json (Wikidata) or "+".csv, or one of these compressed as .gz, .bz2 or .zst", f.Name)
		}
	}
	f.Format = f.format.String()
	if f.read == nil {
		f.read = readers[f.format]
	}
	if f.read == nil {
		return store.Invalidf("%s: format %d is not known", f.Name, f.format)
	}
	return nil
}

// nextFile goes to the next file and looks it up in the history of a load that continues: whole
// reports whether all of it is in batches already. Else l.position is where to continue in it.
func (l *Loader) nextFile(r io.Reader, f file) (whole bool, err error) {
	number := l.position.File + 1
	l.position, l.skip = position{File: number}, 0
	if l.resumed == nil || number > l.resumed.resumePoint().File {
		return false, nil
	}
	was := l.resumed.files[number].identity
	if was != f.identity {
		return false, store.Invalidf(
			"the load that was interrupted had as file %d %s (%s), now it is %s (%s), or it was changed; load "+
				"without resume to start over", number, was.Name, was.Format, f.Name, f.Format)
	}
	if number == l.resumed.resumePoint().File {
		l.position = l.resumed.resumePoint()
		l.skip = l.position.Statements
		return false, nil
	}
	done, ok := l.resumed.done[number]
	if !ok {
		return false, nil
	}
	if f.sum != nil {
		if _, err := io.Copy(io.Discard, r); err != nil {
			return false, fmt.Errorf("read %s: %w", f.Name, err)
		}
		if done.Sum == nil || *done.Sum != f.sum.streamSum {
			return false, store.Invalidf("%s changed since the load was interrupted; load without resume to "+
				"start over", f.Name)
		}
	}
	l.report.Lines += done.Lines
	l.report.BadLines += done.BadLines
	errs := toLineErrors(done.Errors)
	l.report.Errors = append(l.report.Errors, errs[:min(len(errs), maxErrors-len(l.report.Errors))]...)
	return true, nil
}

func (l *Loader) reject(err *LineError) error {
	l.report.BadLines++
	if len(l.report.Errors) < maxErrors {
		l.report.Errors = append(l.report.Errors, err)
	}
	if l.options.Strict {
		return err
	}
	return nil
}

// fileSink is the sink of one file. It leaves out the statements that are in
// batches already; labels and aliases that come again change nothing.
type fileSink struct {
	*Loader
	name string
}

func (c fileSink) Statement(s source.Statement) error {
	if c.skip > 0 {
		c.skip--
		return nil
	}
	c.position.Statements++
	switch {
	case !c.options.Provenance:
		s.Provenance = ""
	case s.Provenance == "" && s.Line > 0:
		s.Provenance = c.name + ":" + strconv.FormatUint(s.Line, 10)
	case s.Provenance == "":
		s.Provenance = c.name
	}
	err := c.builder.Statement(s)
	if taken := c.builder.statements(); taken%progressStatements == 0 {
		c.reportProgress(Progress{Phase: Read, Done: taken})
	}
	return err
}

func (c fileSink) Label(key, name string, rank int) error { return c.builder.Label(key, name, rank) }
func (c fileSink) Alias(key, name string) error           { return c.builder.Alias(key, name) }

// pipelineChunkSize is the number of values handed from one goroutine to the other at
// a time, aheadChunks how many such chunks there are.
const (
	pipelineChunkSize = 1024
	pipelineChunks    = 4
)

// runPipelined takes values while the next ones are made by another goroutine. fill makes one of a
// value that was taken before, whose memory it may use; ok is false after the last one.
func runPipelined[T any](ctx context.Context, fill func(*T) (ok bool, err error), take func(*T) error) error {
	free, full := make(chan []T, pipelineChunks), make(chan []T, pipelineChunks)
	for range pipelineChunks {
		free <- make([]T, pipelineChunkSize)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(full)
		for {
			var chunk []T
			select {
			case chunk = <-free:
			case <-ctx.Done():
				return ctx.Err()
			}
			chunk = chunk[:pipelineChunkSize]
			for i := range chunk {
				ok, err := fill(&chunk[i])
				if err != nil {
					return err
				}
				if !ok {
					full <- chunk[:i]
					return nil
				}
			}
			full <- chunk
		}
	})
	group.Go(func() error {
		for chunk := range full {
			for i := range chunk {
				if err := take(&chunk[i]); err != nil {
					return err
				}
			}
			free <- chunk
		}
		return ctx.Err()
	})
	return group.Wait()
}
