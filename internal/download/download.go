// Package download fetches files over HTTP, resumes what broke off, and unpacks archives.
package download

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// Attempts is the number of requests without progress after which a download is given up.
const Attempts = 4

// File is a file to download.
type File struct {
	URL string
	// Path is where the complete file goes. Until then its bytes are in Path.partial, where a later
	// download continues.
	Path string
	// Pinned is set if the caller compares the checksum. Then a partial file is continued from any
	// server; otherwise only if the server's ETag says that it is still the same file.
	Pinned bool
	// MaxBytes bounds the size.
	MaxBytes int64
	// Client makes the requests; nil is http.DefaultClient.
	Client *http.Client
	// Pause is the time before the second attempt, of which later ones take multiples; 0 is a second.
	Pause time.Duration
}

// Task shows the progress in bytes.
type Task interface {
	Resume(done int64)
	SetProgress(done, total int64)
}

// StatusError is the answer of a server that does not have the file, or does not give it.
type StatusError struct {
	URL    string
	Status string
	Code   int
}

func (e *StatusError) Error() string { return fmt.Sprintf("GET %s: %s", e.URL, e.Status) }

// interruptedError is a failure after which the download can be continued.
type interruptedError struct{ error }

func (e *interruptedError) Unwrap() error { return e.error }

// Fetch downloads a file. It returns a *StatusError if the server refuses for good; after any other
// error the next call continues where this one ended.
func (f File) Fetch(ctx context.Context, task Task) error {
	f.Pause = cmp.Or(f.Pause, time.Second)
	size := int64(0)
	for failed := 0; ; {
		err := f.resume(ctx, task)
		var interrupted *interruptedError
		switch {
		case err == nil:
			return errors.Join(os.Rename(f.partial(), f.Path), os.RemoveAll(f.etag()))
		case ctx.Err() != nil:
			return fmt.Errorf("%w; the same command resumes it", context.Cause(ctx))
		case !errors.As(err, &interrupted):
			return err
		}
		failed++
		if info, statErr := os.Stat(f.partial()); statErr == nil && info.Size() > size {
			size, failed = info.Size(), 0
		}
		if failed == Attempts {
			return fmt.Errorf("%w; what came is kept: the same command resumes it", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(failed+1) * f.Pause):
		}
	}
}

func (f File) partial() string { return f.Path + ".partial" }

func (f File) etag() string { return f.partial() + ".etag" }

// resume requests what is missing of the partial file, and appends it.
func (f File) resume(ctx context.Context, task Task) error {
	out, err := os.OpenFile(f.partial(), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	have, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return err
	}
	etag, err := os.ReadFile(f.etag())
	if known := err == nil && len(etag) > 0; have > 0 && (known || f.Pinned) {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		if known {
			req.Header.Set("If-Range", string(etag)) // of another file, the whole is served
		}
	}
	client := f.Client
	client = cmp.Or(client, http.DefaultClient)
	resp, err := client.Do(req)
	if err != nil {
		return &interruptedError{err}
	}
	defer resp.Body.Close()
	status := &StatusError{f.URL, resp.Status, resp.StatusCode}
	switch {
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && f.Pinned:
		return nil // complete, or of another file: the checksum tells
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return errors.Join(&interruptedError{status}, out.Truncate(0))
	case resp.StatusCode == http.StatusPartialContent && have > 0:
		if !strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)) {
			return errors.Join(&interruptedError{errors.New("the server sent another range than was requested")},
				out.Truncate(0))
		}
		task.Resume(have)
	case resp.StatusCode == http.StatusOK:
		have = 0
		if err := restart(out, f.etag(), resp.Header.Get("ETag")); err != nil {
			return err
		}
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
		return &interruptedError{status}
	default:
		return status
	}
	task.SetProgress(have, have+max(0, resp.ContentLength))
	m := &meter{task, have}
	_, err = io.Copy(io.MultiWriter(out, m), io.LimitReader(resp.Body, f.MaxBytes-have+1))
	switch {
	case err != nil:
		return &interruptedError{errors.Join(err, out.Sync())}
	case m.done > f.MaxBytes:
		return fmt.Errorf("GET %s: it is larger than %d MiB", f.URL, f.MaxBytes>>20)
	}
	return out.Sync()
}

// restart empties a partial file and records which file it will be a part of.
func restart(out *os.File, path, etag string) error {
	_, err := out.Seek(0, io.SeekStart)
	return errors.Join(err, out.Truncate(0), os.WriteFile(path, []byte(etag), 0o644))
}

// meter shows the progress of what is written to it.
type meter struct {
	task Task
	done int64
}

func (m *meter) Write(b []byte) (int, error) {
	m.done += int64(len(b))
	m.task.SetProgress(m.done, 0)
	return len(b), nil
}

// Sum returns the SHA-256 sum of a file in lower-case hexadecimal.
func Sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
