// Package vectorcache keeps the vectors of texts on disk, so that no text is encoded twice by the
// process that has the cache open, and by those after it.
//
// A directory holds one bbolt file with two buckets: records in the order in which they came, under
// ascending numbers, and the number of each key's record. A key is a hash of the encoder's name,
// the tenant and the text, so the vectors of several encoders and tenants lie side by side. bbolt
// does not check its pages: a record is returned only if its checksum is right, and a file on which
// bbolt panics or faults is deleted.
package vectorcache

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Options bound a cache.
type Options struct {
	// MaxBytes is how much the directory may hold; beyond it the oldest vectors are evicted. 0
	// means 4 GiB: about 2 million vectors of 384 dims.
	MaxBytes int64
	// Logger receives warnings about damage and failed writes; nil is silent.
	Logger *slog.Logger
}

const (
	defaultMaxBytes = 4 << 30
	// maxBatchBytes is the size of records that are written in one transaction. A process that is
	// killed loses at most as much.
	maxBatchBytes = 2 << 20
	// maxReserveBytes stay free for the pages that a transaction copies.
	maxReserveBytes = 32 << 20
	// maxCrashes is how many processes in a row may end without a write to the file or its Close,
	// before the file is taken for the cause.
	maxCrashes = 3
	// minFileBytes is what bbolt allocates for an empty file.
	minFileBytes = 64 << 10
	// lockTimeout is how long Open waits for a process that is about to end, retryInterval how
	// often a cache that another process has locked is tried again.
	lockTimeout, retryInterval = 100 * time.Millisecond, 10 * time.Second
)

var (
	indexBucket, recordsBucket = []byte("index"), []byte("records")
	// segmentName matches the files of the format before bbolt.
	segmentName = regexp.MustCompile(`^(\.new-)?\d{20}-\d+\.(keys|vectors)$`)
	// errDamaged means that bbolt met pages that it did not write.
	errDamaged  = errors.New("the file is damaged")
	errTooLarge = errors.New("the file is larger than the cache may be")
	errCrashes  = errors.New("processes that opened the file ended without closing it")
	// ErrClosed means that the cache was used after Close.
	ErrClosed = errors.New("vector cache is closed")
)

// Cache is a file of vectors. It is safe for concurrent use. Of several processes with one
// directory, the first has it, and the others encode every text until it ends.
type Cache struct {
	dir      string
	maxBytes int64
	logger   *slog.Logger

	mutex  sync.RWMutex
	closed bool
	// db is nil while another process has the file.
	db       *bbolt.DB
	file     *os.File
	openedAt time.Time
	// pending records are not yet written.
	pending      map[key][]byte
	pendingBytes int64
	// unavailable and writeFailed are set while that is so, so that it is logged once.
	unavailable, writeFailed bool
}

// Open opens the cache in a directory, which is made if it is missing.
func Open(dir string, options Options) (*Cache, error) {
	if options.MaxBytes < 0 {
		return nil, fmt.Errorf("open vector cache %s: a size of %d bytes; want 0 or more", dir, options.MaxBytes)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open vector cache: %w", err)
	}
	c := &Cache{
		dir: dir, maxBytes: cmp.Or(options.MaxBytes, defaultMaxBytes), pending: map[key][]byte{},
		logger: cmp.Or(options.Logger, slog.New(slog.DiscardHandler)),
	}
	c.open(lockTimeout)
	return c, nil
}

// Close writes what is pending and releases the file. Encoders made from the cache fail afterwards.
func (c *Cache) Close() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		return nil
	}
	c.flush()
	c.closed = true
	if c.db == nil {
		return nil
	}
	return errors.Join(c.clearCrashes(), c.db.Close())
}

func (c *Cache) clearCrashes() error {
	if err := os.Remove(c.path() + openedSuffix); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (c *Cache) path() string { return filepath.Join(c.dir, "vectors.db") }

// open opens the file, and begins a new one if it cannot be used. The caller has locked the cache.
func (c *Cache) open(timeout time.Duration) {
	c.openedAt = time.Now()
	db, err := c.openFile(timeout)
	var path *fs.PathError
	var errno syscall.Errno
	if err != nil && !errors.Is(err, bolterrors.ErrTimeout) && !errors.As(err, &path) && !errors.As(err, &errno) {
		c.dropFile(err)
		db, err = c.openFile(timeout)
	}
	if err != nil && !c.unavailable {
		c.logger.Warn(logUnavailable, "directory", c.dir, "error", err)
	}
	c.db, c.unavailable = db, err != nil
	if err != nil {
		return
	}
	db.AllocSize = int(c.batchBytes())
	entries, _ := os.ReadDir(c.dir)
	for _, e := range entries {
		if segmentName.MatchString(e.Name()) {
			_ = os.Remove(filepath.Join(c.dir, e.Name()))
		}
	}
}

// openedSuffix is the suffix of a file that has a byte for each process that opened the cache since
// it was last written or closed: what a damaged page can do to bbolt is not only a panic.
const openedSuffix = ".opened"

// openFile opens a file that is not larger than the cache may be. The list of free pages is kept in
// the file: without it bbolt walks all pages at the start, in a goroutine of its own, whose panic
// over a damaged page would end the process.
func (c *Cache) openFile(timeout time.Duration) (db *bbolt.DB, err error) {
	options := &bbolt.Options{Timeout: timeout, FreelistType: bbolt.FreelistMapType}
	options.OpenFile = func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
		c.file, err = os.OpenFile(name, flag, mode)
		return c.file, err
	}
	err = guard(func() (err error) {
		db, err = bbolt.Open(c.path(), 0o644, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	if info, err := c.file.Stat(); err == nil && info.Size() > max(c.maxBytes, minFileBytes) {
		return nil, errTooLarge
	}
	crashes, _ := os.ReadFile(c.path() + openedSuffix)
	if len(crashes) >= maxCrashes {
		return nil, errors.Join(errCrashes, c.clearCrashes())
	}
	_ = os.WriteFile(c.path()+openedSuffix, append(crashes, '.'), 0o644)
	return db, nil
}

// guard turns bbolt's reaction to a damaged file, a panic or a fault in the memory map, into an
// error.
func guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errDamaged, r)
		}
	}()
	return do()
}

// dropFile deletes the file that was opened last. A database that met damage may hold its lock for
// ever, so it is not closed: truncating the file gives its space back. The caller has locked the
// cache.
func (c *Cache) dropFile(reason error) {
	c.logger.Warn(logFileDropped, "file", c.path(), "error", reason)
	_ = c.file.Truncate(0) // fails if bbolt has closed it
	if err := os.Remove(c.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.logger.Warn(logVectorWriteFailed, "directory", c.dir, "error", err)
	}
}

// lookup fills in the vectors that the cache has, and returns which are missing.
func (c *Cache) lookup(dims int, keys []key, vectors [][]float32) (missing []int, err error) {
	c.mutex.RLock()
	closed, db, damaged := c.closed, c.db, 0
	if db != nil && !closed {
		err = guard(func() error {
			return db.View(func(tx *bbolt.Tx) error {
				damaged = c.readRecords(tx, dims, keys, vectors)
				return nil
			})
		})
	}
	c.mutex.RUnlock()
	if closed {
		return nil, ErrClosed
	}
	if errors.Is(err, errDamaged) {
		c.mutex.Lock()
		if c.db == db && !c.closed { // no other goroutine has met the damage before
			c.dropFile(err)
			c.open(lockTimeout)
		}
		c.mutex.Unlock()
	}
	if damaged > 0 {
		c.logger.Warn(logChecksumMismatch, "vectors", damaged)
	}
	for i, v := range vectors {
		if v == nil {
			missing = append(missing, i)
		}
	}
	return missing, nil
}

// readRecords fills in vectors and returns how many records are damaged.
func (c *Cache) readRecords(tx *bbolt.Tx, dims int, keys []key, vectors [][]float32) (damaged int) {
	index, records := tx.Bucket(indexBucket), tx.Bucket(recordsBucket)
	for i, k := range keys {
		record := c.pending[k]
		if record == nil && index != nil && records != nil {
			record = records.Get(index.Get(k[:]))
		}
		if vector, ok := decodeRecord(k, record); ok && len(vector) == dims {
			vectors[i] = vector
		} else if !ok && record != nil {
			damaged++
		}
	}
	return damaged
}

// add keeps vectors. A cache that cannot be written costs time, not answers.
func (c *Cache) add(keys []key, vectors [][]float32) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.db == nil && !c.closed && time.Since(c.openedAt) > retryInterval {
		c.open(time.Nanosecond)
	}
	for i, k := range keys {
		if c.db == nil || c.closed {
			return
		}
		if isFinite(vectors[i]) {
			c.pending[k] = encodeRecord(k, vectors[i])
			c.pendingBytes += int64(len(c.pending[k]))
		}
		if c.pendingBytes >= c.batchBytes() {
			c.flush()
		}
	}
}

func (c *Cache) batchBytes() int64 { return min(maxBatchBytes, c.maxBytes/32) }

// flush writes what is pending in one transaction, or gives it up. The caller has locked the cache.
func (c *Cache) flush() {
	if len(c.pending) == 0 || c.db == nil {
		return
	}
	err := guard(func() error { return c.db.Update(c.write) })
	if err == nil {
		err = c.clearCrashes()
	}
	if err != nil && !c.writeFailed {
		c.logger.Warn(logVectorWriteFailed, "directory", c.dir, "error", err)
	}
	c.writeFailed = err != nil
	clear(c.pending)
	c.pendingBytes = 0
	if errors.Is(err, errDamaged) {
		c.dropFile(err)
		c.open(lockTimeout)
	}
}

func (c *Cache) write(tx *bbolt.Tx) error {
	index, err := tx.CreateBucketIfNotExists(indexBucket)
	if err != nil {
		return err
	}
	records, err := tx.CreateBucketIfNotExists(recordsBucket)
	if err != nil {
		return err
	}
	if err := c.evict(tx, index, records); err != nil {
		return err
	}
	records.FillPercent = 1 // their numbers ascend, so no page is ever filled up later
	for k, record := range c.pending {
		number, err := records.NextSequence()
		if err != nil {
			return err
		}
		at := binary.BigEndian.AppendUint64(nil, number)
		if err := errors.Join(records.Put(at, record), index.Put(k[:], at)); err != nil {
			return err
		}
	}
	return nil
}

// evict deletes the oldest records until there is room for those that are pending. Pages are
// reused, so the file does not grow beyond maxBytes.
func (c *Cache) evict(tx *bbolt.Tx, index, records *bbolt.Bucket) error {
	stats := c.db.Stats()
	free := int64(stats.FreePageN+stats.PendingPageN) * int64(c.db.Info().PageSize)
	excess := tx.Size() - free + 2*c.pendingBytes + min(maxReserveBytes, c.maxBytes/2) - c.maxBytes
	var numbers [][]byte
	cursor := records.Cursor()
	for at, record := cursor.First(); at != nil && excess > 0; at, record = cursor.Next() {
		numbers = append(numbers, bytes.Clone(at))
		excess -= int64(len(record))
		if len(record) < recordHeader {
			continue
		}
		// A key that was put again has a later record.
		if k := bytes.Clone(record[:len(key{})]); bytes.Equal(index.Get(k), at) {
			if err := index.Delete(k); err != nil {
				return err
			}
		}
	}
	for _, at := range numbers {
		if err := records.Delete(at); err != nil {
			return err
		}
	}
	return nil
}
