package dataset

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/download"
	"github.com/triplemesh/triplemesh/internal/terminal"
)

// maxBytes bounds what is downloaded or unpacked.
const maxBytes = 2 << 30

// fetcher fetches sets into a folder.
type fetcher struct {
	// Dir is the folder of sets; each has a folder in it.
	Dir string
	// Mirror is a folder with copies of fetched sets, <name>/<file>; empty if there is none.
	Mirror string
	// Client asks servers; nil is the default one.
	Client *http.Client
	// Board shows the progress.
	Board *terminal.Board

	pause time.Duration // before an interrupted download is resumed; a second if 0
}

// fetchedFile is what became of a file.
type fetchedFile struct {
	// Path is the file.
	Path string
	// Kept reports that it was there already.
	Kept bool
	// Pinned reports that its checksum was known; otherwise SHA256 is what was recorded when it was first
	// fetched.
	Pinned bool
	SHA256 string
}

// Fetch fetches what is missing of a set. An interrupted download is resumed, now and by the next call.
// A file with another checksum than the pinned or the recorded one is removed and an error.
func (f *fetcher) Fetch(ctx context.Context, set publishedSet) ([]fetchedFile, error) {
	dir := filepath.Join(f.Dir, set.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("fetch %s: %w", set.Name, err)
	}
	records, err := readRecords(dir)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", set.Name, err)
	}
	var results []fetchedFile
	for _, file := range set.Files {
		was := records[file.Name]
		is, kept, err := f.fetchFile(ctx, set.Name, dir, file, was)
		if err != nil {
			return results, fmt.Errorf("fetch %s: %s: %w", set.Name, file.Name, err)
		}
		if is != was {
			records[file.Name] = is
			if err := writeRecords(dir, records); err != nil {
				return results, fmt.Errorf("fetch %s: %w", set.Name, err)
			}
		}
		results = append(results, fetchedFile{Path: filepath.Join(dir, file.Name), Kept: kept, Pinned: is.Pinned,
			SHA256: is.SHA256})
	}
	return results, nil
}

func writeRecords(dir string, records map[string]record) error {
	text, err := json.MarshalIndent(records, "", "  ")
	if err != nil {
		return err
	}
	return config.ReplaceFile(filepath.Join(dir, recordName), 0o644, append(text, '\n'))
}

func (f *fetcher) fetchFile(ctx context.Context, set, dir string, file publishedFile, was record) (
	is record, kept bool, err error) {
	path := filepath.Join(dir, file.Name)
	matchesPin := file.SHA256 == "" || file.SHA256 == was.Served
	if sum, err := download.Sum(path); err == nil && was.SHA256 == sum && matchesPin {
		return was, true, nil
	}
	is = record{URL: file.URL, Pinned: file.SHA256 != ""}
	served := path + ".served"
	if ok, err := f.copyFromMirror(set, file, served, &is); err != nil || ok {
		if err == nil {
			err = os.Rename(served, path)
		}
		return is, false, err
	}
	if err := f.download(ctx, set, file.URL, served); err != nil {
		return record{}, false, err
	}
	if is.Served, err = download.Sum(served); err != nil {
		return record{}, false, err
	}
	want := file.SHA256
	if want == "" {
		want = was.Served
	}
	if want != "" && is.Served != want {
		return record{}, false, errors.Join(fmt.Errorf("checksum mismatch (got %s, want %s): its authors changed "+
			"it, or something on the way did; it was removed", is.Served, want), os.Remove(served))
	}
	if file.Member == "" {
		is.SHA256 = is.Served
		return is, false, os.Rename(served, path)
	}
	if err := unpack(served, file.Member, path); err != nil {
		return record{}, false, fmt.Errorf("unpack %s: %w", file.Member, err)
	}
	if is.SHA256, err = download.Sum(path); err != nil {
		return record{}, false, err
	}
	return is, false, os.Remove(served)
}

// copyFromMirror copies a file from the mirror, if that has it, with what the mirror recorded of it.
func (f *fetcher) copyFromMirror(set string, file publishedFile, to string, is *record) (ok bool, err error) {
	if f.Mirror == "" {
		return false, nil
	}
	from := filepath.Join(f.Mirror, set, file.Name)
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer in.Close()
	if _, err = config.ReplaceFileFunc(to, 0o644, func(w io.Writer) error { return copyBounded(w, in) }); err != nil {
		return false, err
	}
	if is.SHA256, err = download.Sum(to); err != nil {
		return false, err
	}
	is.URL, is.Served = from, is.SHA256
	if file.Member != "" { // the archive is not there: what the mirror recorded of it is believed
		records, err := readRecords(filepath.Join(f.Mirror, set))
		if err != nil {
			return false, err
		}
		if there := records[file.Name]; there.SHA256 == is.SHA256 {
			is.Served = there.Served
		}
	}
	if file.SHA256 != "" && is.Served != file.SHA256 {
		return false, errors.Join(fmt.Errorf("%s: checksum mismatch (got %s, want %s); mend the mirror, or leave "+
			"--mirror out", from, is.Served, file.SHA256), os.Remove(to))
	}
	return true, nil
}

// download fetches url to path. What an earlier call left in path.partial is not fetched again if the
// server serves ranges of the same file.
func (f *fetcher) download(ctx context.Context, name, url, path string) error {
	task := f.Board.Start("fetch "+name, terminal.Bytes, 0)
	defer task.Stop()
	file := download.File{URL: url, Path: path, MaxBytes: maxBytes, Client: f.Client, Pause: f.pause}
	err := file.Fetch(ctx, task)
	var refused *download.StatusError
	switch {
	case err == nil:
		task.Finish()
	case errors.As(err, &refused) && refused.Code < http.StatusInternalServerError:
		return fmt.Errorf("%w: its authors moved it; copy the file into the folder of --mirror", err)
	}
	return err
}

var errTooLarge = fmt.Errorf("is larger than %d MiB", maxBytes>>20)

func copyBounded(to io.Writer, from io.Reader) error {
	n, err := io.Copy(to, io.LimitReader(from, maxBytes+1))
	if err == nil && n > maxBytes {
		return errTooLarge
	}
	return err
}

// unpack writes one member of a zip archive to path.
func unpack(archive, member, path string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer z.Close()
	in, err := z.Open(member)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = config.ReplaceFileFunc(path, 0o644, func(w io.Writer) error { return copyBounded(w, in) })
	return err
}
