package embedded

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"path/filepath"
)

// folder writes a snapshot's files and keeps their checksums.
type folder struct {
	disk disk
	dir  string
	sums map[string]fileSum
}

// write makes one file of whatever fill writes, and sees it onto the disk.
func (f *folder) write(name string, fill func(io.Writer) error) error {
	out, err := f.disk.Create(filepath.Join(f.dir, name))
	if err != nil {
		return fmt.Errorf("create %s: %w", name, full(err))
	}
	sum := &summing{to: out, hash: sha256.New()}
	buffered := bufio.NewWriterSize(sum, 1<<20)
	err = fill(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = out.Sync()
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, full(err))
	}
	f.sums[name] = fileSum{Bytes: sum.bytes, SHA256: hex.EncodeToString(sum.hash.Sum(nil))}
	return nil
}

// seal writes the manifest and its checksum, the last files of a snapshot.
func (f *folder) seal(m manifest) (manifest, error) {
	m.Files = f.sums
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, fmt.Errorf("write %s: %w", manifestName, err)
	}
	// Their sums do not belong among those that they hold.
	last := &folder{disk: f.disk, dir: f.dir, sums: map[string]fileSum{}}
	if err := last.write(manifestName, bytesOf(data)); err != nil {
		return m, err
	}
	line := fmt.Sprintf("%s  %s\n", hexSum(data), manifestName)
	if err := last.write(sumName, bytesOf([]byte(line))); err != nil {
		return m, err
	}
	if err := f.disk.SyncDir(f.dir); err != nil {
		return m, fmt.Errorf("sync %s: %w", f.dir, full(err))
	}
	return m, nil
}

func bytesOf(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// writeColumn writes numbers as they lie in memory.
func writeColumn[T fixed](f *folder, name string, values []T) error {
	return f.write(name, bytesOf(asBytes(values)))
}

// writeTexts writes strings and, beside them, where each begins.
func writeTexts(f *folder, name string, values []string) error {
	offsets := make([]uint64, 1, len(values)+1)
	err := f.write(name, func(w io.Writer) error {
		var end uint64
		for _, v := range values {
			if _, err := io.WriteString(w, v); err != nil {
				return err
			}
			end += uint64(len(v))
			offsets = append(offsets, end)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return writeColumn(f, name+".offsets", offsets)
}

// writeLists writes one list per row and, beside them, where each begins.
func writeLists[T fixed](f *folder, name string, values []T, offsets []uint32) error {
	if err := writeColumn(f, name, values); err != nil {
		return err
	}
	return writeColumn(f, name+".offsets", offsets)
}

// summing hashes and counts what passes through. A short write without an
// error is one.
type summing struct {
	to    io.Writer
	hash  hash.Hash
	bytes int64
}

func (s *summing) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	s.hash.Write(p[:n])
	s.bytes += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}
