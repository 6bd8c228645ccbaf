// Package fetch downloads published question sets and graphs from their authors, and finds them by name.
package fetch

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Set is a published set of questions, with a graph if it was published with one.
type Set struct {
	Name    string `yaml:"name"`
	Title   string `yaml:"title"`
	Source  string `yaml:"source"`
	Licence string `yaml:"licence"`
	Files   []File `yaml:"files"`
}

// File is one file of a set.
type File struct {
	// Name is the file's name in the folder of its set.
	Name string `yaml:"name"`
	// URL is where its authors serve it.
	URL string `yaml:"url"`
	// SHA256 is the checksum of what URL serves, in hexadecimal; empty if it is not known beforehand.
	SHA256 string `yaml:"sha256"`
	// Member is the file's path in the zip archive that URL serves; empty if URL serves the file.
	Member string `yaml:"member"`
	// Format is the format of its questions; empty for a graph.
	Format string `yaml:"format"`
}

//go:embed sets.yaml
var setsYAML []byte

// Sets returns the sets that can be fetched.
func Sets() ([]Set, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(setsYAML))
	decoder.KnownFields(true)
	var sets []Set
	if err := decoder.Decode(&sets); err != nil {
		return nil, fmt.Errorf("read the list of question sets: %w", err)
	}
	return sets, nil
}

// Find returns a set by its name.
func Find(sets []Set, name string) (Set, error) {
	var names []string
	for _, s := range sets {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Set{}, fmt.Errorf("no question set is called %q; those known are %s", name, strings.Join(names, ", "))
}

// record says what a file of a set held when it was fetched.
type record struct {
	// URL is where it came from.
	URL string `json:"url"`
	// Served is the checksum of what was served, SHA256 that of the file.
	Served string `json:"served_sha256"`
	SHA256 string `json:"sha256"`
	// Pinned reports that Served was known beforehand.
	Pinned bool `json:"pinned"`
}

const recordName = "fetched.json"

func readRecords(dir string) (map[string]record, error) {
	records := make(map[string]record)
	path := filepath.Join(dir, recordName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return records, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &records)
	}
	if err != nil {
		return nil, fmt.Errorf("read checksums %s: %w; remove the file to fetch the set again", path, err)
	}
	return records, nil
}

// Questions returns the file of questions of a fetched set in the folder of sets, its format, and the
// checksum that it had when it was fetched.
func Questions(dir, name string) (path, format, sum string, err error) {
	sets, err := Sets()
	if err != nil {
		return "", "", "", err
	}
	set, err := Find(sets, name)
	if err != nil {
		return "", "", "", err
	}
	dir = filepath.Join(dir, name)
	records, err := readRecords(dir)
	if err != nil {
		return "", "", "", err
	}
	for _, f := range set.Files {
		if f.Format == "" {
			continue
		}
		path = filepath.Join(dir, f.Name)
		if _, err := os.Stat(path); err != nil || records[f.Name].SHA256 == "" {
			return "", "", "", fmt.Errorf("question set %s is not fetched; run `triplemesh eval fetch %s`", name, name)
		}
		return path, f.Format, records[f.Name].SHA256, nil
	}
	return "", "", "", fmt.Errorf("question set %s has no questions", name)
}
