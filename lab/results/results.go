// Package results keeps the result of an evaluation: of one method with one set
// of options over one dataset and one or more knowledge graphs. A directory
// holds it: manifest.json says what was evaluated, runs.jsonl has a line for
// each question.
package results

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
)

// Results are the results in a directory, as they were when it was opened.
type Results struct {
	// Dir is the directory.
	Dir string
	// Manifest says what they are results of.
	Manifest Manifest

	lines []span // the line that counts of each question, in the order of the file
}

// span is where a line stands in the file, in bytes.
type span struct {
	offset       int64
	length, head int // of the line with its end; of its part before the run, 0 if it has none
}

// Open finds the results in a directory. Of several lines on one question the
// last one counts: a question that failed may have been asked again. A last
// line that was cut short does not count.
//
// Results in another format, a directory without results, and a line that is
// no result are errors. The runs themselves are not looked into.
func Open(dir string) (*Results, error) {
	manifest, err := readManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open results: %s holds no results of an evaluation: it has no %s; name a directory "+
			"that `triplemesh eval --out` wrote", dir, manifestName)
	}
	if err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	file, err := openRuns(dir)
	if err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	defer file.Close()
	r := &Results{Dir: dir, Manifest: manifest}
	spans := make(map[string]span)
	err = eachLine(file, func(_ []byte, s span, record Record) error {
		spans[record.ID] = s
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read results %s: %w", filepath.Join(dir, runsName), err)
	}
	for _, s := range spans {
		r.lines = append(r.lines, s)
	}
	slices.SortFunc(r.lines, func(a, b span) int { return int(a.offset - b.offset) })
	return r, nil
}

// Len returns the number of questions that were asked.
func (r *Results) Len() int { return len(r.lines) }

// Records returns the questions asked, without their runs, in the order in which
// they were answered. After an error there is nothing more.
func (r *Results) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		r.scanLines(func(file io.ReaderAt, s span) bool {
			text := make([]byte, s.length)
			if s.head > 0 {
				text = text[:s.head]
			}
			if _, err := file.ReadAt(text, s.offset); err != nil {
				yield(Record{}, err)
				return false
			}
			if s.head > 0 {
				text = append(text, '}')
			}
			var record Record
			if err := json.Unmarshal(text, &record); err != nil {
				yield(Record{}, fmt.Errorf("read results %s: %w", filepath.Join(r.Dir, runsName), err))
				return false
			}
			return yield(record, nil)
		}, func(err error) { yield(Record{}, err) })
	}
}

// Lines returns the questions asked with their runs, in the same order. One line
// is in memory at a time.
func (r *Results) Lines() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		r.scanLines(func(file io.ReaderAt, s span) bool {
			text := make([]byte, s.length)
			if _, err := file.ReadAt(text, s.offset); err != nil {
				yield(Line{}, err)
				return false
			}
			line, err := parseLine(text, s.head)
			if err != nil {
				yield(Line{}, fmt.Errorf("read results %s: %w", filepath.Join(r.Dir, runsName), err))
				return false
			}
			return yield(line, nil)
		}, func(err error) { yield(Line{}, err) })
	}
}

// scanLines goes through the lines while visit is content.
func (r *Results) scanLines(visit func(io.ReaderAt, span) bool, fail func(error)) {
	file, err := openRuns(r.Dir)
	if err != nil {
		fail(fmt.Errorf("read results: %w", err))
		return
	}
	defer file.Close()
	for _, s := range r.lines {
		if !visit(file, s) {
			return
		}
	}
}

// parseLine reads a line whose first head bytes stand before its run.
func parseLine(text []byte, head int) (Line, error) {
	var line Line
	if head == 0 {
		err := json.Unmarshal(text, &line)
		return line, err
	}
	if err := json.Unmarshal(append(slices.Clone(text[:head]), '}'), &line.Record); err != nil {
		return Line{}, err
	}
	for text[len(text)-1] != '}' { // the line's end
		text = text[:len(text)-1]
	}
	line.Run = json.RawMessage(text[head+len(runMark) : len(text)-1])
	return line, nil
}

// eachLine goes through the whole lines of a results file: each with its end,
// where it begins, and its record. A last line without its end is left out.
func eachLine(r io.Reader, visit func(text []byte, s span, record Record) error) error {
	lines := bufio.NewReaderSize(r, 1<<20)
	offset := int64(0)
	for number := 1; ; number++ {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		record, head, err := parseRecord(text)
		if err != nil {
			return fmt.Errorf("line %d is no result: %w; remove the line to have its question asked again", number, err)
		}
		if err := visit(text, span{offset, len(text), head}, record); err != nil {
			return err
		}
		offset += int64(len(text))
	}
}
