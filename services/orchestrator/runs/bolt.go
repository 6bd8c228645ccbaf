package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/triplemesh/triplemesh/internal/auth"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// boltFormat holds the default tenant's runs in the bucket "runs" and those of each other tenant in
// the bucket "@" and its name. A database of format 1 had one tenant.
const boltFormat = "2"

var (
	runsBucket = []byte("runs")
	metaBucket = []byte("meta")
	versionKey = []byte("version")
)

// lockPatience is how long to wait for the file lock of another process.
const lockPatience = 2 * time.Second

// DB stores runs in one file, which one process opens at a time.
type DB struct {
	bolt *bbolt.DB
	keep int
	// broken is the panic of a write, as an error.
	broken atomic.Pointer[error]

	mu     sync.Mutex     // one writer at a time
	counts map[string]int // of runs by bucket: counting them again would read all of them
}

// Open opens or creates the database file. It keeps the newest keep runs of each tenant; 0 keeps
// all.
func Open(path string, keep int) (*DB, error) {
	db, err := open(path, keep)
	if err != nil {
		return nil, fmt.Errorf("open run database %s: %w", path, err)
	}
	return db, nil
}

func open(path string, keep int) (*DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	var b *bbolt.DB
	err := guard(func() (err error) {
		b, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockPatience})
		if err == nil {
			err = check(b, path)
		}
		return err
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, errors.New("another process has it open; stop that one, give this orchestrator a runs file of " +
			"its own, or let them share a directory (runs.dir)")
	}
	if err != nil {
		if b != nil {
			err = errors.Join(err, b.Close())
		}
		return nil, err
	}
	d := &DB{bolt: b, keep: keep, counts: map[string]int{}}
	err = d.update(func(tx *bbolt.Tx) error {
		if _, err := tx.CreateBucketIfNotExists(runsBucket); err != nil {
			return err
		}
		meta, err := tx.CreateBucketIfNotExists(metaBucket)
		if err != nil {
			return err
		}
		switch v := meta.Get(versionKey); string(v) {
		case "":
			return meta.Put(versionKey, []byte(boltFormat))
		case "1", boltFormat:
			return nil
		default:
			return fmt.Errorf("it is of format %q and this build reads up to %q: use the build that wrote it, or "+
				"another file", v, boltFormat)
		}
	})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// check returns an error if bits of a file that is open have changed in what its runs are found by: with such a page
// bbolt may write over memory or use up all of it.
func check(b *bbolt.DB, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err == nil {
		err = checkPages(file, info.Size())
	}
	if err != nil {
		return err
	}
	return b.View(func(tx *bbolt.Tx) (first error) {
		for err := range tx.Check() {
			first = cmp.Or(first, fmt.Errorf("%w (%w)", errDamaged, err))
		}
		return first
	})
}

// Close closes the file. A file damaged during a write stays open until the process ends.
func (d *DB) Close() error {
	if err := d.broken.Load(); err != nil {
		return *err
	}
	return d.bolt.Close()
}

// Tenant implements Tenants.
func (d *DB) Tenant(id auth.Tenant) (Store, error) {
	switch {
	case id.IsZero():
		return nil, auth.ErrNoTenant
	case id.IsDefault():
		return shelf{d, runsBucket}, nil
	}
	return shelf{d, []byte("@" + id.String())}, nil
}

// shelf is the bucket of one tenant, created with its first run.
type shelf struct {
	db   *DB
	name []byte
}

// Save implements Store. All runs are one atomic transaction.
func (s shelf) Save(all ...*orchestratorv1.Run) error {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	count, counted := s.db.counts[string(s.name)]
	err := s.db.update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(s.name)
		if err != nil {
			return err
		}
		if !counted {
			count = b.Stats().KeyN
		}
		for _, run := range all {
			isNew, err := putRun(b, run)
			if err != nil {
				return fmt.Errorf("keep run %s: %w", run.GetId(), err)
			}
			if isNew {
				count++
			}
		}
		c := b.Cursor()
		for ; s.db.keep > 0 && count > s.db.keep; count-- {
			if k, _ := c.First(); k == nil {
				break
			}
			if err := c.Delete(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep %d runs: %w", len(all), err)
	}
	s.db.counts[string(s.name)] = count
	return nil
}

// putRun reports whether the id is new.
func putRun(b *bbolt.Bucket, run *orchestratorv1.Run) (isNew bool, err error) {
	id := []byte(run.GetId())
	value, err := EncodeRecord(run)
	if err != nil {
		return false, err
	}
	isNew = b.Get(id) == nil
	return isNew, b.Put(id, value)
}

func (s shelf) Get(id string) (run *orchestratorv1.Run, err error) {
	err = s.db.view(func(tx *bbolt.Tx) (err error) {
		b := tx.Bucket(s.name)
		if b == nil {
			return ErrNotFound
		}
		value := b.Get([]byte(id))
		if value == nil {
			return ErrNotFound
		}
		run, err = decodeRecord(value, id, decodeFull)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	return run, nil
}

// List implements Store. It skips damaged runs: Get returns their error.
func (s shelf) List(ctx context.Context, size int, before string,
	filter Filter) ([]*orchestratorv1.Run, string, error) {
	g := pageBuilder{size: size, filter: filter}
	err := s.db.view(func(tx *bbolt.Tx) error {
		b := tx.Bucket(s.name)
		if b == nil {
			return nil
		}
		c := b.Cursor()
		k, v := c.Last()
		if before != "" {
			if k, _ = c.Seek([]byte(before)); k == nil {
				k, v = c.Last()
			} else {
				k, v = c.Prev()
			}
		}
		for ; k != nil; k, v = c.Prev() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if run, err := decodeRecord(v, string(k), decodeOutline); err == nil && !g.add(run) {
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("list runs: %w", err)
	}
	return g.page, g.next, nil
}
