package results

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/triplemesh/triplemesh/internal/config"
)

// packedName is the file of runs of packed results, which can be read and not added to.
const packedName = runsName + ".gz"

// maxPacked bounds the runs of packed results, in bytes: they are read into memory.
const maxPacked = 4 << 30

// Pack writes results to a directory in compressed form, for publication: the manifest and the line that
// counts of each question, in the order of the file. The same results give the same bytes.
func (r *Results) Pack(dir string) error {
	if err := r.pack(dir); err != nil {
		return fmt.Errorf("pack results %s: %w", r.Dir, err)
	}
	return nil
}

func (r *Results) pack(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{manifestName, runsName, packedName} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("%s has results already; choose another --out", dir)
		}
	}
	if _, err := config.ReplaceFileFunc(filepath.Join(dir, packedName), 0o644, func(w io.Writer) (err error) {
		packer, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		r.scanLines(func(file io.ReaderAt, s span) bool {
			_, err = io.Copy(packer, io.NewSectionReader(file, s.offset, int64(s.length)))
			return err == nil
		}, func(failed error) { err = failed })
		return errors.Join(err, packer.Close())
	}); err != nil {
		return err
	}
	return writeManifest(dir, r.Manifest)
}

// openRuns opens the runs in a directory, packed or not.
func openRuns(dir string) (runs, error) {
	file, err := os.Open(filepath.Join(dir, runsName))
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	packed, unpackedErr := os.Open(filepath.Join(dir, packedName))
	if unpackedErr != nil {
		return nil, err
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", packed.Name(), err)
	}
	text, err := io.ReadAll(io.LimitReader(unpacked, maxPacked+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", packed.Name(), err)
	case len(text) > maxPacked:
		return nil, fmt.Errorf("%s holds more than %d GiB; unpack it with gunzip", packed.Name(), maxPacked>>30)
	}
	return unpackedRuns{bytes.NewReader(text)}, nil
}

// runs are the lines of runs.jsonl.
type runs interface {
	io.Reader
	io.ReaderAt
	io.Closer
}

type unpackedRuns struct{ *bytes.Reader }

func (unpackedRuns) Close() error { return nil }
