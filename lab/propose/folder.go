package propose

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// endings are those of files that are read.
var endings = []string{".txt", ".md", ".markdown"}

// fileBytes is the largest file that is read: a library of novels in one file is
// some hundred megabytes, and more than that is no text.
const fileBytes = 256 << 20

// Files finds the texts that paths name, each once and in order: files, and in
// folders and their folders those that end in .txt, .md or .markdown, hidden
// ones aside. others counts files in folders that end otherwise.
func Files(paths []string) (files []string, others int, err error) {
	seen := map[string]bool{}
	add := func(path string) {
		if path = filepath.Clean(path); !seen[path] {
			seen[path] = true
			files = append(files, path)
		}
	}
	for _, root := range paths {
		info, err := os.Stat(root)
		if err != nil {
			return nil, 0, err
		}
		if !info.IsDir() {
			if !isText(root) {
				return nil, 0, fmt.Errorf("%s: only %s are read; write its text into such a file", root,
					strings.Join(endings, ", "))
			}
			add(root)
			continue
		}
		// With the separator behind it, a root that is a link is walked too.
		root += string(filepath.Separator)
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch hidden := path != root && strings.HasPrefix(d.Name(), "."); {
			case err != nil:
				return err
			case hidden && d.IsDir():
				return filepath.SkipDir
			case hidden || !d.Type().IsRegular():
			case isText(path):
				add(path)
			default:
				others++
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return files, others, nil
}

func isText(path string) bool {
	return slices.Contains(endings, strings.ToLower(filepath.Ext(path)))
}

// ReadText reads a file.
func ReadText(path string) (Text, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Text{}, err
	}
	if info.Size() > fileBytes {
		return Text{}, fmt.Errorf("%s: %d bytes, at most %d are read; part it", path, info.Size(), fileBytes)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return Text{}, err
	}
	if !utf8.Valid(content) {
		return Text{}, fmt.Errorf("%s: %w", path, ErrNotUTF8)
	}
	return Text{File: filepath.ToSlash(path), Content: string(content)}, nil
}

// ErrNotUTF8 is what is wrong with a text in another encoding.
var ErrNotUTF8 = errors.New("it is not UTF-8; convert it, such as with iconv -f latin1 -t utf-8")
