package dataset

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

// publishedSet is a published set of questions, with a graph if it was published with one.
type publishedSet struct {
	Name    string          `yaml:"name"`
	Title   string          `yaml:"title"`
	Source  string          `yaml:"source"`
	Licence string          `yaml:"licence"`
	Files   []publishedFile `yaml:"files"`
}

// publishedFile is one file of a set.
type publishedFile struct {
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

// publishedSets returns the sets that can be fetched.
func publishedSets() ([]publishedSet, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(setsYAML))
	decoder.KnownFields(true)
	var sets []publishedSet
	if err := decoder.Decode(&sets); err != nil {
		return nil, fmt.Errorf("read the list of question sets: %w", err)
	}
	return sets, nil
}

// findSet returns a set by its name.
func findSet(sets []publishedSet, name string) (publishedSet, error) {
	var names []string
	for _, s := range sets {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return publishedSet{}, fmt.Errorf("no question set is called %q; those known are %s", name,
		strings.Join(names, ", "))
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

// FetchedQuestions returns the file of questions of a fetched set in the folder of sets, its format, and the
// checksum that it had when it was fetched.
func FetchedQuestions(dir, name string) (path, format, sum string, err error) {
	sets, err := publishedSets()
	if err != nil {
		return "", "", "", err
	}
	set, err := findSet(sets, name)
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
