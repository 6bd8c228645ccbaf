package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/triplemesh/triplemesh/internal/config"
)

// RecordSuffix of the file of a record, DAY/ID.pb.
const RecordSuffix = ".pb"

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

// ListDays returns the directories of days, oldest first.
func ListDays(path string) ([]string, error) {
	return list(path, func(entry fs.DirEntry) (string, bool) {
		_, err := time.Parse(time.DateOnly, entry.Name())
		return entry.Name(), err == nil && entry.IsDir()
	})
}

// ListIDs returns the ids of a day's records, in ascending order. dayOf returns the day of an id;
// false for an invalid id.
func ListIDs(path, day string, dayOf func(id string) (string, bool)) ([]string, error) {
	return list(filepath.Join(path, day), func(entry fs.DirEntry) (string, bool) {
		id, isRecord := strings.CutSuffix(entry.Name(), RecordSuffix)
		of, isID := dayOf(id)
		return id, isRecord && isID && of == day
	})
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
