package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/config"
)

const recordSuffix = ".pb"

// Folder is the directory of a tenant's records of messages M, each a file DAY/ID.pb. It is created with
// the first one. Several processes may share it: files appear whole.
type Folder[M interface{ GetId() string }] struct {
	Path string
	// DayOf returns the UTC day of an id, whose order is that of days; false for an invalid id, which
	// might name any file.
	DayOf func(id string) (day string, ok bool)
	// Report is called with the error of each file that cannot be read.
	Report func(path string, err error)
}

// File returns the path of a record; false for an invalid id.
func (f Folder[M]) File(id string) (string, bool) {
	day, ok := f.DayOf(id)
	return filepath.Join(f.Path, day, id+recordSuffix), ok
}

// Write writes the record of a message. It is on disk when Write returns.
func (f Folder[M]) Write(id string, m proto.Message) error {
	path, ok := f.File(id)
	if !ok {
		return fmt.Errorf("%q is no id", id)
	}
	data, err := EncodeRecord(m)
	if err != nil {
		return err
	}
	// Another process may remove the empty directory before the file is in it, several times in a row if
	// many of them remove records at once.
	for range 100 {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err = config.ReplaceFile(path, 0o600, data); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// Read reads a record and decodes its message by as. The error is fs.ErrNotExist for an unknown id.
func (f Folder[M]) Read(id string, as func(message []byte) (M, error)) (m M, err error) {
	path, ok := f.File(id)
	if !ok {
		return m, fs.ErrNotExist
	}
	data, err := os.ReadFile(path)
	if err == nil {
		m, err = decodeRecord(data, id, as)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.Report(path, err)
	}
	return m, err
}

// Walk calls do with the messages whose ids are below before and begin with run, in descending order of
// ids, until it returns false. Either may be empty. Records that cannot be read are skipped.
func (f Folder[M]) Walk(ctx context.Context, before, run string, as func(message []byte) (M, error),
	do func(M) bool) error {
	days, err := f.Days()
	if err != nil {
		return err
	}
	first, isRun := DayOfRun(run)
	last, bounded := f.DayOf(before)
	for _, day := range slices.Backward(days) {
		if isRun && day != first || bounded && day > last {
			continue
		}
		ids, err := f.IDs(day)
		if err != nil {
			return err
		}
		for _, id := range slices.Backward(ids) {
			if before != "" && id >= before || !strings.HasPrefix(id, run) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if m, err := f.Read(id, as); err == nil && !do(m) {
				return nil
			}
		}
	}
	return nil
}

// Days returns the directories of days, oldest first.
func (f Folder[M]) Days() ([]string, error) {
	return list(f.Path, func(entry fs.DirEntry) (string, bool) {
		_, err := time.Parse(time.DateOnly, entry.Name())
		return entry.Name(), err == nil && entry.IsDir()
	})
}

// IDs returns the ids of a day's records, in ascending order.
func (f Folder[M]) IDs(day string) ([]string, error) {
	return list(filepath.Join(f.Path, day), func(entry fs.DirEntry) (string, bool) {
		id, isRecord := strings.CutSuffix(entry.Name(), recordSuffix)
		of, isID := f.DayOf(id)
		return id, isRecord && isID && of == day
	})
}

// PrepareDir makes a directory of records of a format, or returns an error if it holds another one.
func PrepareDir(path, format string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	file := filepath.Join(path, "format")
	switch v, err := os.ReadFile(file); {
	case errors.Is(err, fs.ErrNotExist):
		return config.ReplaceFile(file, 0o600, []byte(format+"\n"))
	case err != nil:
		return err
	case strings.TrimSpace(string(v)) != format:
		return fmt.Errorf("it is of format %q and this build reads %q: use the build that wrote it, or another "+
			"directory", strings.TrimSpace(string(v)), format)
	}
	return nil
}

// DayOfRun returns the UTC day of a run's id; false for an invalid id, which might name any file.
func DayOfRun(id string) (string, bool) {
	parsed, err := ulid.ParseStrict(id)
	if err != nil || parsed.String() != id {
		return "", false
	}
	day := parsed.Timestamp().UTC().Format(time.DateOnly)
	return day, len(day) == len(time.DateOnly) // years of more digits do not sort as texts
}

// list returns the sorted entries of a directory that take accepts; none if there is no directory.
func list(path string, take func(fs.DirEntry) (string, bool)) ([]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []string
	for _, entry := range entries {
		if name, ok := take(entry); ok {
			all = append(all, name)
		}
	}
	return all, nil
}
