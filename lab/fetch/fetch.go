package fetch

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/triplemesh/triplemesh/internal/terminal"
)

const (
	// maxBytes bounds what is downloaded or unpacked.
	maxBytes = 2 << 30
	// tries is how often an interrupted download is resumed before the command gives up.
	tries = 4
)

// Fetcher fetches sets into a folder.
type Fetcher struct {
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

// Result is what became of a file.
type Result struct {
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
func (f *Fetcher) Fetch(ctx context.Context, set Set) ([]Result, error) {
	dir := filepath.Join(f.Dir, set.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("fetch %s: %w", set.Name, err)
	}
	records, err := readRecords(dir)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", set.Name, err)
	}
	var results []Result
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
		results = append(results, Result{Path: filepath.Join(dir, file.Name), Kept: kept, Pinned: is.Pinned,
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

func (f *Fetcher) fetchFile(ctx context.Context, set, dir string, file File, was record) (is record, kept bool,
	err error) {
	path := filepath.Join(dir, file.Name)
	if sum, err := sumFile(path); err == nil && was.SHA256 == sum && (file.SHA256 == "" || file.SHA256 == was.Served) {
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
	if is.Served, err = sumFile(served); err != nil {
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
	if is.SHA256, err = sumFile(path); err != nil {
		return record{}, false, err
	}
	return is, false, os.Remove(served)
}

// copyFromMirror copies a file from the mirror, if that has it, with what the mirror recorded of it.
func (f *Fetcher) copyFromMirror(set string, file File, to string, is *record) (ok bool, err error) {
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
	if is.SHA256, err = sumFile(to); err != nil {
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
func (f *Fetcher) download(ctx context.Context, name, url, path string) error {
	task := f.Board.Start("fetch "+name, terminal.Bytes, 0)
	defer task.Stop()
	pause := f.pause
	if pause == 0 {
		pause = time.Second
	}
	for try := 1; ; try++ {
		err := f.resume(ctx, url, path+".partial", task)
		var interrupted *interruptedError
		switch {
		case err == nil:
			task.Finish()
			return errors.Join(os.Rename(path+".partial", path), os.RemoveAll(path+".partial.etag"))
		case ctx.Err() != nil:
			return fmt.Errorf("%w; the same command resumes it", context.Cause(ctx))
		case !errors.As(err, &interrupted):
			return err
		case try == tries:
			return fmt.Errorf("%w; what came is kept: the same command resumes it", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(try) * pause):
		}
	}
}

// interruptedError is a failure after which a download can be resumed.
type interruptedError struct{ error }

func (e *interruptedError) Unwrap() error { return e.error }

func (f *Fetcher) resume(ctx context.Context, url, partial string, task *terminal.Task) error {
	out, err := os.OpenFile(partial, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	have, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if etag, err := os.ReadFile(partial + ".etag"); have > 0 && err == nil && len(etag) > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		req.Header.Set("If-Range", string(etag)) // of another file, the whole is served
	}
	client := f.Client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return &interruptedError{err}
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		// Whole already, or of another file: the checksum tells, of the whole from the beginning.
		return errors.Join(&interruptedError{fmt.Errorf("GET %s: %s", url, resp.Status)}, out.Truncate(0))
	case resp.StatusCode == http.StatusPartialContent && have > 0:
		task.Resume(have)
	case resp.StatusCode == http.StatusOK:
		have = 0
		if err := errors.Join(out.Truncate(0), seekStart(out),
			os.WriteFile(partial+".etag", []byte(resp.Header.Get("ETag")), 0o644)); err != nil {
			return err
		}
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
		return &interruptedError{fmt.Errorf("GET %s: %s", url, resp.Status)}
	default:
		return fmt.Errorf("GET %s: %s: its authors moved it; copy the file into the folder of --mirror", url,
			resp.Status)
	}
	if resp.ContentLength > 0 {
		task.SetProgress(have, have+resp.ContentLength)
	}
	err = copyBounded(io.MultiWriter(out, progressWriter(func(n int) {
		have += int64(n)
		task.SetDone(have)
	})), resp.Body)
	if err != nil && !errors.Is(err, errTooLarge) {
		return &interruptedError{errors.Join(err, out.Sync())}
	}
	return errors.Join(err, out.Sync())
}

func seekStart(file *os.File) error {
	_, err := file.Seek(0, io.SeekStart)
	return err
}

type progressWriter func(n int)

func (w progressWriter) Write(p []byte) (int, error) {
	w(len(p))
	return len(p), nil
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

func sumFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
