// Package cache keeps values by the SHA-256 of what determines them, in memory
// and on disk. Entries never change, so there is nothing to invalidate.
package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	lru "github.com/hashicorp/golang-lru/v2"
)

// header starts every file: a name, the version of the format, then the SHA-256
// of the value and the value itself.
const header = "triplemesh-cache 1\n"

// mostBytes is the largest file that is read back.
const mostBytes = 64 << 20

// Cache is safe for concurrent use, by several processes too.
type Cache struct {
	dir    string
	memory *lru.Cache[string, []byte]
	most   int64 // bytes of a shard; 0 for no bound
	shards [shards]shard
}

// Open makes a cache with a directory (made if missing; empty: none) of at most
// so many bytes (0: no bound), and a number of entries in memory (0: none). The
// oldest files go first. Processes that share a directory each hold to the bound
// by what they know: together they may pass it by what each wrote since it
// looked through a 256th of it.
func Open(dir string, bytes int64, entries int) (*Cache, error) {
	c := &Cache{}
	if bytes > 0 {
		c.most = max(1, bytes/shards)
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
		// Answers repeat what users asked: nobody else reads them.
		if err := os.MkdirAll(c.dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the cache directory: %w", err)
		}
	}
	return c, nil
}

// Get returns the value of a key, which the caller must not change. A file that
// is missing, damaged or of another version is a miss.
func (c *Cache) Get(key string) ([]byte, bool) {
	if c.memory != nil {
		if v, ok := c.memory.Get(key); ok {
			return v, true
		}
	}
	if c.dir == "" || !valid(key) {
		return nil, false
	}
	v, ok := read(c.path(key))
	if ok && c.memory != nil {
		c.memory.Add(key, v)
	}
	return v, ok
}

// Put keeps a value under a key: 64 lower-case hexadecimal digits. An error
// means that it is in memory alone.
func (c *Cache) Put(key string, value []byte) error {
	if !valid(key) {
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
	if err := write(c.path(key), file); err != nil || c.most == 0 {
		return err
	}
	n, _ := strconv.ParseUint(key[:2], 16, 8) // it is valid
	return c.shards[n].wrote(filepath.Join(c.dir, key[:2]), int64(len(file)), c.most)
}

// path spreads files over 65,536 directories.
func (c *Cache) path(key string) string {
	return filepath.Join(c.dir, key[:2], key[2:4], key[4:])
}

// valid keeps keys from naming any other file.
func valid(key string) bool {
	raw, err := hex.DecodeString(key)
	return err == nil && len(raw) == sha256.Size && key == hex.EncodeToString(raw)
}

func read(path string) ([]byte, bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	file, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil || len(file) > mostBytes {
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

// write makes a file whole or not at all.
func write(path string, data []byte) (err error) {
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
