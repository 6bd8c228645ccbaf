package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/services/retriever/source"
)

// sampleLines is how many statements of a file are looked at.
const sampleLines = 200

// ProbeFile reads the beginning of a file of triples. It returns the format that its name tells.
func ProbeFile(ctx context.Context, path string) (format string, err error) {
	if err := errors.Join(CheckTextFile(path, false), CheckNotEmpty(path)); err != nil {
		return "", err
	}
	kind, ok := source.FormatByName(path)
	if !ok {
		return "", fmt.Errorf("%s: its name tells no format: rename it (.tsv, .csv, .nt, .nq, .ttl, .jsonld, .json "+
			"of Wikidata, also with .gz, .bz2 or .zst), or name the format: triplemesh kg load NAME FILE --format tsv",
			path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	statements, bad, err := Probe(ctx, filepath.Base(path), kind, f, sampleLines)
	// The cause is text only: a line error in the chain would be printed in place of this one.
	switch {
	case statements > 0: // a bad line now and then is passed over
		return kind.String(), nil
	case bad != nil:
		return "", fmt.Errorf("%s holds no facts as %s: %s", path, kind, bad.Error())
	case err != nil:
		return "", fmt.Errorf("%s holds no facts as %s: %s", path, kind, err.Error())
	}
	return "", fmt.Errorf("%s holds no facts as %s: was it downloaded whole?", path, kind)
}

// CheckNotEmpty tells that there is nothing in a file.
func CheckNotEmpty(path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return fmt.Errorf("%s is empty: was it downloaded whole?", path)
	}
	return nil
}

// CheckTextFile looks at the first bytes of a file, and tells what is no text of facts:
// a folder, a web page, a program or a picture. A named format
// takes what is packed otherwise than the name says.
func CheckTextFile(path string, named bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s: there is no such file%s", path, findSibling(path))
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder: name the files in it, or have facts proposed out of its texts by "+
			"`triplemesh kg propose`", path)
	case !info.Mode().IsRegular():
		return nil // a pipe can be read only once
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	plain, err := source.Unpack(filepath.Base(path), f)
	if err != nil {
		if named {
			return nil
		}
		return err
	}
	defer plain.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(plain, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return checkText(path, head[:n])
}

// checkText says what else than facts a text is.
func checkText(path string, head []byte) error {
	start := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))))
	for _, page := range []string{"<!doctype html", "<html", "<head", "<script"} {
		if bytes.HasPrefix(start, []byte(page)) {
			return fmt.Errorf("%s is a web page, not facts: download the file itself, not the page that shows it", path)
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return fmt.Errorf("%s is a zip archive: unpack it, and name the files in it", path)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return fmt.Errorf("%s is text in UTF-16: save it in UTF-8", path)
	case bytes.IndexByte(head, 0) >= 0:
		return fmt.Errorf("%s is no text but binary data: name a file of facts, such as .tsv, .csv, .nt or .ttl", path)
	case bytes.HasPrefix(start, []byte("<?xml")):
		return fmt.Errorf("%s is XML, which is not read: make N-Triples or Turtle of it, by `rapper` or `riot`", path)
	}
	// The last character may be cut.
	for cut := range min(utf8.UTFMax, len(head)+1) {
		if utf8.Valid(head[:len(head)-cut]) {
			return nil
		}
	}
	return fmt.Errorf("%s is not in UTF-8: save it so (iconv -f LATIN1 -t UTF-8)", path)
}

// findSibling asks whether another file of the folder was meant; empty where none is near.
func findSibling(path string) string {
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	if near := config.NearestWord(filepath.Base(path), names); near != "" {
		return " (did you mean " + filepath.Join(filepath.Dir(path), near) + "?)"
	}
	return ""
}
