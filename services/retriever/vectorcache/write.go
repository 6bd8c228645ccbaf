package vectorcache

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// writtenTogether is how many vectors are laid out in memory before they go
// to a file.
const writtenTogether = 1024

// keep appends vectors, of dims components each. A cache that cannot be
// written costs time, not answers: it says so, and the caller goes on.
func (c *Cache) keep(dims int, keys []key, vectors [][]float32) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		return
	}
	err := c.write(dims, keys, vectors)
	if err != nil && !c.failed {
		c.logger.Warn("vector cache: vectors cannot be kept", "directory", c.dir, "error", err)
	}
	c.failed = err != nil
}

func (c *Cache) write(dims int, keys []key, vectors [][]float32) error {
	var records, laid []byte
	for len(keys) > 0 {
		s, err := c.writer(dims)
		if err != nil {
			return err
		}
		room := max(1, int((c.maxSegmentBytes-s.bytes())/(recordSize+s.vectorSize())))
		n := min(writtenTogether, room, len(keys))
		records, laid = records[:0], laid[:0]
		kept := make([]key, 0, n)
		for i, k := range keys[:n] {
			if !finite(vectors[i]) {
				continue
			}
			from := len(laid)
			laid = appendVector(laid, vectors[i])
			records = appendRecord(records, k, laid[from:])
			kept = append(kept, k)
		}
		if err := s.append(records, laid); err != nil {
			// Whoever locks the segment next cuts off what is half written.
			c.unlock(s)
			return err
		}
		for i, k := range kept {
			c.index.put(k.fingerprint(), place{s.id, uint32(s.records - len(kept) + i + 1)})
		}
		keys, vectors = keys[n:], vectors[n:]
	}
	return nil
}

// writer is a segment with room that this process has locked: the one it had,
// one whose writer is gone, or a new one.
func (c *Cache) writer(dims int) (*segment, error) {
	if s := c.writing[dims]; s != nil {
		if s.bytes() < c.maxSegmentBytes {
			return s, nil
		}
		c.unlock(s)
	}
	if err := c.look(); err != nil {
		return nil, err
	}
	for _, s := range slices.Backward(c.sorted()) {
		if s.dims != dims || s.bytes() >= c.maxSegmentBytes || !c.take(s) {
			continue
		}
		c.writing[dims] = s
		return s, nil
	}
	c.bound()
	s, err := createSegment(c.dir, dims, time.Now())
	if err != nil {
		return nil, fmt.Errorf("begin a segment: %w", err)
	}
	c.add(s)
	c.writing[dims] = s
	return s, nil
}

// take makes this process the writer of a segment that has none.
func (c *Cache) take(s *segment) bool {
	if !s.lock() {
		return false
	}
	// It may have grown, or gone, before it was locked.
	mine, err := s.keys.Stat()
	if err == nil {
		var there os.FileInfo
		there, err = os.Stat(filepath.Join(c.dir, s.name+keysSuffix))
		if err == nil && !os.SameFile(mine, there) {
			err = os.ErrNotExist
		}
	}
	if err == nil {
		c.grow(s)
		err = s.cut()
	}
	if err != nil {
		c.unlock(s)
		return false
	}
	return true
}

func (c *Cache) unlock(s *segment) {
	if c.writing[s.dims] == s {
		delete(c.writing, s.dims)
	}
	_ = unix.Flock(int(s.keys.Fd()), unix.LOCK_UN)
	s.locked = false
}
