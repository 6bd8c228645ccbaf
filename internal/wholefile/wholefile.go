// Package wholefile writes files that are replaced as a whole or not at all.
package wholefile

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// WriteBytes is Write of what is there already.
func WriteBytes(path string, mode os.FileMode, data []byte) error {
	_, err := Write(path, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	return err
}

// Write fills a file beside path, and puts it in path's place once it is on the
// disk: whoever reads path sees the old file or the new one, and after a
// failure the old one is there. mode is the new file's. A file beside it that a
// killed process left begins with a dot and ends in ".part-" and a number. It
// returns the size in bytes.
func Write(path string, mode os.FileMode, fill func(io.Writer) error) (size int64, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".part-*")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	out := bufio.NewWriterSize(f, 1<<16)
	if err := errors.Join(fill(out), out.Flush(), f.Chmod(mode), f.Sync()); err != nil {
		return 0, errors.Join(err, f.Close())
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	return info.Size(), os.Rename(f.Name(), path)
}
