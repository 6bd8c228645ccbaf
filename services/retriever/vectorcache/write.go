package vectorcache

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// writeBatch is the number of vectors laid out in memory before they go to a file.
const writeBatch = 1024

// append appends vectors, of dims components each. A cache that cannot be
// written costs time, not answers: it says so, and the caller continues.
func (c *Cache) append(dims int, keys []key, vectors [][]float32) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		return
	}
	err := c.appendAll(dims, keys, vectors)
	if err != nil && !c.writeFailed {
		c.logger.Warn(logVectorWriteFailed, "directory", c.dir, "error", err)
	}
	c.writeFailed = err != nil
}

func (c *Cache) appendAll(dims int, keys []key, vectors [][]float32) error {
	var records, laid []byte
	for len(keys) > 0 {
		s, err := c.writableSegment(dims)
		if err != nil {
			return err
		}
		room := max(1, int((c.maxSegmentBytes-s.bytes())/(recordSize+s.vectorSize())))
		n := min(writeBatch, room, len(keys))
		records, laid = records[:0], laid[:0]
		kept := make([]key, 0, n)
		for i, k := range keys[:n] {
			if !isFinite(vectors[i]) {
				continue
			}
			from := len(laid)
			laid = appendVector(laid, vectors[i])
			records = appendRecord(records, k, laid[from:])
			kept = append(kept, k)
		}
		if err := s.append(records, laid); err != nil {
			// A caller that locks the segment next cuts off what is half written.
			c.unlock(s)
			return err
		}
		for i, k := range kept {
			c.index.insert(k.fingerprint(), location{s.id, uint32(s.records - len(kept) + i + 1)})
		}
		keys, vectors = keys[n:], vectors[n:]
	}
	return nil
}

// writableSegment is a segment with room that this process has locked: the one it had,
// one whose writer is gone, or a new one.
func (c *Cache) writableSegment(dims int) (*segment, error) {
	if s := c.writable[dims]; s != nil {
		if s.bytes() < c.maxSegmentBytes {
			return s, nil
		}
		c.unlock(s)
	}
	if err := c.refresh(); err != nil {
		return nil, err
	}
	for _, s := range slices.Backward(c.segmentsByAge()) {
		if s.dims != dims || s.bytes() >= c.maxSegmentBytes || !c.takeOver(s) {
			continue
		}
		c.writable[dims] = s
		return s, nil
	}
	c.evict()
	s, err := createSegment(c.dir, dims, time.Now())
	if err != nil {
		return nil, fmt.Errorf("begin a segment: %w", err)
	}
	c.addSegment(s)
	c.writable[dims] = s
	return s, nil
}

// takeOver makes this process the writer of a segment that has none.
func (c *Cache) takeOver(s *segment) bool {
	if !s.tryLock() {
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
		c.indexNew(s)
		err = s.truncate()
	}
	if err != nil {
		c.unlock(s)
		return false
	}
	return true
}

func (c *Cache) unlock(s *segment) {
	if c.writable[s.dims] == s {
		delete(c.writable, s.dims)
	}
	_ = unix.Flock(int(s.keys.Fd()), unix.LOCK_UN)
	s.locked = false
}
