package reports

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Report is one report as it is listed.
type Report struct {
	// Name is its file's, without ".html".
	Name string `json:"name"`
	// Title is its page's; its name where the page has none.
	Title string `json:"title"`
	// Created is when its file was written.
	Created time.Time `json:"created"`
	// Bytes is how large it is.
	Bytes int64 `json:"bytes"`
}

// Ending is that of reports' files.
const Ending = ".html"

// head is how much of a page is read for its title.
const head = 1 << 16

// nameable are the names that reports can have: they are parts of paths and of
// addresses.
var nameable = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// CheckName says what is wrong with the name of a report.
func CheckName(name string) error {
	if !nameable.MatchString(name) {
		return fmt.Errorf("a report cannot be named %q: take up to 100 letters, digits, dots, hyphens and underscores, a letter or digit first", name)
	}
	return nil
}

// List lists the reports in a directory, newest first. One that is empty or not
// there has none.
func List(dir string) ([]Report, error) {
	reports := []Report{}
	if dir == "" {
		return reports, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return reports, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the reports: %w", err)
	}
	for _, e := range entries {
		file, info, err := open(dir, e.Name())
		if err != nil {
			continue // not a report, or gone since
		}
		name := strings.TrimSuffix(e.Name(), Ending)
		reports = append(reports, Report{
			Name: name, Title: cmp.Or(title(file), name),
			Created: info.ModTime().UTC(), Bytes: info.Size(),
		})
		file.Close()
	}
	slices.SortStableFunc(reports, func(a, b Report) int { return b.Created.Compare(a.Created) })
	return reports, nil
}

// open opens a report of a directory. What lies outside the directory is none,
// links there included.
func open(dir, file string) (*os.File, fs.FileInfo, error) {
	name, ok := strings.CutSuffix(file, Ending)
	if !ok || !nameable.MatchString(name) || dir == "" {
		return nil, nil, fs.ErrNotExist
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	info, err := root.Stat(file)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fs.ErrNotExist
	}
	f, err := root.Open(file)
	return f, info, err
}

// titled finds the title of a page.
var titled = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// title is the title of a page as text; empty where its head has none.
func title(page io.Reader) string {
	top, err := io.ReadAll(io.LimitReader(page, head))
	if err != nil {
		return ""
	}
	found := titled.FindSubmatch(top)
	if found == nil {
		return ""
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(html.UnescapeString(string(found[1])), "")), " ")
}
