package vectorcache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// orphanAge is how old a file of an unfinished segment is before it is taken
// for one that nobody will finish.
const orphanAge = time.Hour

// refresh finds segments that were added, extended or removed. The caller has locked the cache.
func (c *Cache) refresh() error {
	c.refreshedAt = time.Now()
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("look for segments: %w", err)
	}
	there := map[string]bool{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), keysSuffix)
		if !ok || strings.HasPrefix(name, newPrefix) {
			c.removeOrphan(e, entries)
			continue
		}
		there[name] = true
		if _, known := c.byName[name]; !known {
			c.openNew(name)
		}
	}
	gone := false
	for _, s := range c.segmentsByAge() {
		if !there[s.name] {
			gone = true
			c.closeSegment(s)
			continue
		}
		c.indexNew(s)
	}
	for name, id := range c.byName {
		if id == 0 && !there[name] {
			delete(c.byName, name)
		}
	}
	if gone {
		c.pruneIndex()
	}
	return nil
}

// openNew opens a segment not seen before. One that cannot be used is remembered
// by the id 0, so that it is logged once.
func (c *Cache) openNew(name string) {
	s, err := openSegment(c.dir, name)
	switch {
	case err == nil:
		c.addSegment(s)
	case errors.Is(err, fs.ErrNotExist):
		// Another process is dropping it, or its vectors are lost.
	case errors.Is(err, errNoHeader):
		c.logger.Warn(logSegmentDropped, "segment", name, "error", err)
		c.deleteFiles(name)
	default:
		c.byName[name] = 0
		c.logger.Warn(logSegmentSkipped, "segment", name, "error", err)
	}
}

func (c *Cache) addSegment(s *segment) {
	c.nextID++
	s.id = c.nextID
	c.segments[s.id], c.byName[s.name] = s, s.id
}

// indexNew indexes what a segment has gained.
func (c *Cache) indexNew(s *segment) {
	if c.writable[s.dims] == s {
		return // what this process appends is indexed at once
	}
	whole, err := s.completeRecords()
	if err == nil && whole > s.records {
		c.index.reserve(whole - s.records)
		err = s.scan(s.records, whole, func(record int, k key) {
			c.index.insert(k.fingerprint(), location{s.id, uint32(record + 1)})
		})
	}
	if err != nil {
		c.logger.Warn(logSegmentReadFailed, "segment", s.name, "error", err)
		return
	}
	s.records = whole
}

// segmentsByAge are the segments, the oldest first.
func (c *Cache) segmentsByAge() []*segment {
	all := make([]*segment, 0, len(c.segments))
	for _, s := range c.segments {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *segment) int { return strings.Compare(a.name, b.name) })
	return all
}

// closeSegment releases a segment; its places are still to be forgotten.
func (c *Cache) closeSegment(s *segment) {
	_ = s.close()
	delete(c.segments, s.id)
	delete(c.byName, s.name)
	if c.writable[s.dims] == s {
		delete(c.writable, s.dims)
	}
}

func (c *Cache) pruneIndex() {
	c.index.retain(func(p location) bool { return c.segments[p.segment] != nil })
}

// evict drops the oldest segments until there is room for one more. Those that
// another process writes to stay.
func (c *Cache) evict() {
	total := c.maxSegmentBytes
	for _, s := range c.segments {
		total += s.bytes()
	}
	dropped := false
	for _, s := range c.segmentsByAge() {
		if total <= c.maxBytes {
			break
		}
		if c.writable[s.dims] == s || !s.tryLock() {
			continue
		}
		total -= s.bytes()
		c.deleteFiles(s.name)
		c.closeSegment(s)
		dropped = true
	}
	if dropped {
		c.pruneIndex()
	}
}

// deleteFiles deletes a segment's files, the keys first: without them the vectors are nobody's.
func (c *Cache) deleteFiles(name string) {
	for _, suffix := range []string{keysSuffix, vectorsSuffix} {
		if err := os.Remove(filepath.Join(c.dir, name+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.logger.Warn(logSegmentDropFailed, "segment", name, "error", err)
		}
	}
}

// removeOrphan removes what was left of a segment half made or half dropped.
func (c *Cache) removeOrphan(e fs.DirEntry, entries []fs.DirEntry) {
	name, ok := strings.CutSuffix(e.Name(), vectorsSuffix)
	if !ok && !strings.HasPrefix(e.Name(), newPrefix) {
		return
	}
	if ok && slices.ContainsFunc(entries, func(o fs.DirEntry) bool { return o.Name() == name+keysSuffix }) &&
		!strings.HasPrefix(name, newPrefix) {
		return
	}
	if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > orphanAge {
		_ = os.Remove(filepath.Join(c.dir, e.Name()))
	}
}
