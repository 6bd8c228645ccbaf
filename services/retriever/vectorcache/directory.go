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

// abandoned is how old a file of an unfinished segment is before it is taken
// for one that nobody will finish.
const abandoned = time.Hour

// look takes notice of segments that have come, grown or gone. The caller has
// locked the cache.
func (c *Cache) look() error {
	c.looked = time.Now()
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("look for segments: %w", err)
	}
	there := map[string]bool{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), keysSuffix)
		if !ok || strings.HasPrefix(name, newPrefix) {
			c.sweep(e, entries)
			continue
		}
		there[name] = true
		if _, known := c.byName[name]; !known {
			c.meet(name)
		}
	}
	gone := false
	for _, s := range c.sorted() {
		if !there[s.name] {
			gone = true
			c.forget(s)
			continue
		}
		c.grow(s)
	}
	for name, id := range c.byName {
		if id == 0 && !there[name] {
			delete(c.byName, name)
		}
	}
	if gone {
		c.forgetPlaces()
	}
	return nil
}

// meet opens a segment not seen before. One that cannot be used is remembered
// by the id 0, so that it is spoken of once.
func (c *Cache) meet(name string) {
	s, err := openSegment(c.dir, name)
	switch {
	case err == nil:
		c.add(s)
	case errors.Is(err, fs.ErrNotExist):
		// Another process is dropping it, or its vectors are lost.
	case errors.Is(err, errNoHeader):
		c.logger.Warn("vector cache: a damaged segment is dropped", "segment", name, "error", err)
		c.remove(name)
	default:
		c.byName[name] = 0
		c.logger.Warn("vector cache: a segment is left alone", "segment", name, "error", err)
	}
}

func (c *Cache) add(s *segment) {
	c.nextID++
	s.id = c.nextID
	c.segments[s.id], c.byName[s.name] = s, s.id
}

// grow indexes what a segment has gained.
func (c *Cache) grow(s *segment) {
	if c.writing[s.dims] == s {
		return // what this process appends is indexed at once
	}
	whole, err := s.whole()
	if err == nil && whole > s.records {
		c.index.reserve(whole - s.records)
		err = s.scan(s.records, whole, func(record int, k key) {
			c.index.put(k.fingerprint(), place{s.id, uint32(record + 1)})
		})
	}
	if err != nil {
		c.logger.Warn("vector cache: a segment cannot be read", "segment", s.name, "error", err)
		return
	}
	s.records = whole
}

// sorted are the segments, the oldest first.
func (c *Cache) sorted() []*segment {
	all := make([]*segment, 0, len(c.segments))
	for _, s := range c.segments {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *segment) int { return strings.Compare(a.name, b.name) })
	return all
}

// forget lets go of a segment; its places are still to be forgotten.
func (c *Cache) forget(s *segment) {
	_ = s.close()
	delete(c.segments, s.id)
	delete(c.byName, s.name)
	if c.writing[s.dims] == s {
		delete(c.writing, s.dims)
	}
}

func (c *Cache) forgetPlaces() {
	c.index.keep(func(p place) bool { return c.segments[p.segment] != nil })
}

// bound drops the oldest segments until there is room for one more. Those that
// somebody writes to stay.
func (c *Cache) bound() {
	total := c.maxSegmentBytes
	for _, s := range c.segments {
		total += s.bytes()
	}
	dropped := false
	for _, s := range c.sorted() {
		if total <= c.maxBytes {
			break
		}
		if c.writing[s.dims] == s || !s.lock() {
			continue
		}
		total -= s.bytes()
		c.remove(s.name)
		c.forget(s)
		dropped = true
	}
	if dropped {
		c.forgetPlaces()
	}
}

// remove deletes a segment's files, the keys first: without them the vectors
// are nobody's.
func (c *Cache) remove(name string) {
	for _, suffix := range []string{keysSuffix, vectorsSuffix} {
		if err := os.Remove(filepath.Join(c.dir, name+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.logger.Warn("vector cache: a segment cannot be dropped", "segment", name, "error", err)
		}
	}
}

// sweep removes what was left of a segment half made or half dropped.
func (c *Cache) sweep(e fs.DirEntry, entries []fs.DirEntry) {
	name, ok := strings.CutSuffix(e.Name(), vectorsSuffix)
	if !ok && !strings.HasPrefix(e.Name(), newPrefix) {
		return
	}
	if ok && slices.ContainsFunc(entries, func(o fs.DirEntry) bool { return o.Name() == name+keysSuffix }) && !strings.HasPrefix(name, newPrefix) {
		return
	}
	if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
		_ = os.Remove(filepath.Join(c.dir, e.Name()))
	}
}
