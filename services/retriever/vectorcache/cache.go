// Package vectorcache keeps the vectors of texts on disk, so that no text is encoded twice: not by
// the next version of a knowledge graph, not by another process.
//
// A directory holds segments: a file of vectors and a file of keys each, both only ever appended
// to. A key is a hash of the encoder's name, the tenant and the text, so the vectors of several
// encoders and tenants lie side by side. A process appends to a segment that it has locked and
// reads those of all others. A record counts once its key is whole, and is returned only if its
// checksum is right; so nothing has to be repaired after a crash.
package vectorcache

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Options bound a cache.
type Options struct {
	// MaxBytes is how much the directory may hold; beyond it the oldest
	// segments go. 0 means 4 GiB: 2.7 million vectors of 384 dims.
	MaxBytes int64
	// Logger receives warnings about damage and failed writes; nil is silent.
	Logger *slog.Logger
}

const (
	defaultMaxBytes = 4 << 30
	// A segment is at most a sixteenth of the whole, so that dropping the
	// oldest forgets little at once.
	segmentsPerCache = 16
	maxSegmentBytes  = 256 << 20
	// refreshInterval is how often a cache that misses looks for what other processes have written.
	refreshInterval = time.Second
)

// Statistics count texts since Open.
type Statistics struct {
	// Hits were found, Misses were encoded.
	Hits, Misses uint64
	// Damaged records had a checksum mismatch and were encoded again.
	Damaged uint64
	// Vectors are those that can be found now, Bytes the directory's size.
	Vectors int
	Bytes   int64
}

// Cache is a directory of vectors. It is safe for concurrent use, and several
// processes may share the directory.
type Cache struct {
	dir             string
	maxBytes        int64
	maxSegmentBytes int64
	logger          *slog.Logger

	mutex    sync.RWMutex
	closed   bool
	segments map[uint32]*segment
	byName   map[string]uint32
	nextID   uint32
	// writable has the segment appended to, per number of dims.
	writable    map[int]*segment
	index       table
	refreshedAt time.Time
	// writeFailed is set while vectors cannot be written, so that it is said once.
	writeFailed bool

	count counters
}

// ErrClosed means that the cache was used after Close.
var ErrClosed = errors.New("vector cache is closed")

// Open reads the keys in a directory, which is made if it is missing.
func Open(dir string, options Options) (*Cache, error) {
	if options.MaxBytes < 0 {
		return nil, fmt.Errorf("open vector cache %s: a size of %d bytes; want 0 or more", dir, options.MaxBytes)
	}
	options.MaxBytes = cmp.Or(options.MaxBytes, defaultMaxBytes)
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open vector cache: %w", err)
	}
	c := &Cache{
		dir:             dir,
		maxBytes:        options.MaxBytes,
		maxSegmentBytes: min(options.MaxBytes/segmentsPerCache, maxSegmentBytes),
		logger:          options.Logger,
		segments:        map[uint32]*segment{},
		byName:          map[string]uint32{},
		writable:        map[int]*segment{},
	}
	if err := c.refresh(); err != nil {
		return nil, fmt.Errorf("open vector cache: %w", err)
	}
	return c, nil
}

// Close releases the files. Encoders made from the cache fail afterwards.
func (c *Cache) Close() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	var errs []error
	for _, s := range c.segments {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// Statistics says how useful the cache is.
func (c *Cache) Statistics() Statistics {
	c.mutex.RLock()
	defer c.mutex.RUnlock()
	s := Statistics{
		Hits:    c.count.hits.Load(),
		Misses:  c.count.misses.Load(),
		Damaged: c.count.damaged.Load(),
		Vectors: c.index.entries,
	}
	for _, segment := range c.segments {
		s.Bytes += segment.bytes()
	}
	return s
}
