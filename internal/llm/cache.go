package llm

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// header starts every file: a name and the version of the format. The SHA-256 of the value and the
// value follow.
const header = "triplemesh-cache 1\n"

// maxFileBytes is the largest file that is read.
const maxFileBytes = 64 << 20

// Cache is a content-addressed cache in memory and on disk. Entries are immutable. It is safe for
// concurrent use, by several processes too.
type Cache struct {
	dir      string
	memory   *lru.Cache[string, []byte]
	maxBytes int64 // bytes of a shard; 0 for no bound
	shards   [shards]shard
}

// OpenCache opens a cache with a directory (created if missing; "" for none) of at most the given bytes
// (0 for no limit), and a number of entries in memory (0 for none). The oldest files are evicted first.
// Processes that share a directory may together exceed the limit by what each wrote since it last
// scanned a 256th of it.
func OpenCache(dir string, bytes int64, entries int) (*Cache, error) {
	c := &Cache{}
	if bytes > 0 {
		c.maxBytes = max(1, bytes/shards)
	}
	if entries > 0 {
		m, err := lru.New[string, []byte](entries)
		if err != nil {
			return nil, err
		}
		c.memory = m
	}
	if dir != "" {
		c.dir = filepath.Join(dir, "v1")
		// Answers repeat users' questions: no access for others.
		if err := os.MkdirAll(c.dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the cache directory: %w", err)
		}
	}
	return c, nil
}

// Get returns the value of a key, which the caller must not modify. A missing or damaged file, or one
// of another version, is a cache miss.
func (c *Cache) Get(key string) ([]byte, bool) {
	if c.memory != nil {
		if v, ok := c.memory.Get(key); ok {
			return v, true
		}
	}
	if c.dir == "" || !isValidKey(key) {
		return nil, false
	}
	v, ok := readFile(c.path(key))
	if ok && c.memory != nil {
		c.memory.Add(key, v)
	}
	return v, ok
}

// Set stores a value under a key of 64 lower-case hexadecimal digits. After an error it is only in
// memory.
func (c *Cache) Set(key string, value []byte) error {
	if !isValidKey(key) {
		return fmt.Errorf("cache key %q is not a SHA-256 in hexadecimal", key)
	}
	if c.memory != nil {
		c.memory.Add(key, value)
	}
	if c.dir == "" {
		return nil
	}
	sum := sha256.Sum256(value)
	file := append(append([]byte(header), sum[:]...), value...)
	if err := writeFile(c.path(key), file); err != nil || c.maxBytes == 0 {
		return err
	}
	n, _ := strconv.ParseUint(key[:2], 16, 8) // it is valid
	return c.shards[n].recordWrite(filepath.Join(c.dir, key[:2]), int64(len(file)), c.maxBytes)
}

// path distributes files over 65,536 directories.
func (c *Cache) path(key string) string {
	return filepath.Join(c.dir, key[:2], key[2:4], key[4:])
}

// isValidKey reports whether a key is a SHA-256, so that it cannot name another file.
func isValidKey(key string) bool {
	raw, err := hex.DecodeString(key)
	return err == nil && len(raw) == sha256.Size && key == hex.EncodeToString(raw)
}

func readFile(path string) ([]byte, bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	file, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil || len(file) > maxFileBytes {
		return nil, false
	}
	rest, ok := bytes.CutPrefix(file, []byte(header))
	if !ok || len(rest) < sha256.Size {
		return nil, false
	}
	value := rest[sha256.Size:]
	if sum := sha256.Sum256(value); !bytes.Equal(sum[:], rest[:sha256.Size]) {
		return nil, false
	}
	return value, true
}

// writeFile writes a file atomically.
func writeFile(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// shards is the number of directories of the first level. Each has its own limit, as SHA-256 fills
// them evenly.
const shards = 256

// maxWriteTime is the age from which on an unfinished file is stale.
const maxWriteTime = time.Hour

// shard counts the bytes of one directory. Scanning it also counts the files of other processes.
type shard struct {
	mu      sync.Mutex
	scanned bool
	bytes   int64
}

// recordWrite counts a file and evicts others above the limit.
func (s *shard) recordWrite(dir string, bytes, most int64) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes += bytes; s.scanned && s.bytes <= most {
		return nil
	}
	s.bytes, err = trim(dir, most, time.Now())
	s.scanned = err == nil
	return err
}

type file struct {
	path  string
	bytes int64
	at    time.Time
}

// trim evicts the oldest files of a directory that exceeds the limit, down to three quarters of it, and
// returns the remaining bytes. Another process may remove files meanwhile.
func trim(dir string, most int64, now time.Time) (bytes int64, err error) {
	var files []file
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return ignoreMissing(err)
		}
		info, err := d.Info()
		if err != nil {
			return ignoreMissing(err)
		}
		if strings.HasPrefix(d.Name(), ".new-") {
			if now.Sub(info.ModTime()) > maxWriteTime {
				return ignoreMissing(os.Remove(path))
			}
			return nil
		}
		files = append(files, file{path, info.Size(), info.ModTime()})
		bytes += info.Size()
		return nil
	})
	if err != nil || bytes <= most {
		return bytes, err
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.path, b.path)) })
	for _, f := range files {
		if bytes <= most/4*3 {
			break
		}
		if err := ignoreMissing(os.Remove(f.path)); err != nil {
			return bytes, err
		}
		bytes -= f.bytes
	}
	return bytes, nil
}

// ignoreMissing ignores errors of missing files.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
