package runs

import (
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

	"github.com/triplemesh/triplemesh/internal/tenant"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// A database says which format it is of. Format 1 holds the default tenant's
// runs in the bucket "runs"; a build that knows only that refuses format 2,
// which holds those of others beside it, each in the bucket "@" and the name. A
// database is of format 1 until another tenant asks.
const (
	formatOneTenant = "1"
	formatTenants   = "2"
)

var (
	runsBucket = []byte("runs")
	metaBucket = []byte("meta")
	versionKey = []byte("version")
)

// lockPatience is how long to wait for another process to let the file go.
const lockPatience = 2 * time.Second

// DB holds runs in one file, which one process has open at a time.
type DB struct {
	bolt *bbolt.DB
	keep int
	// broken is what ended a write in a panic.
	broken atomic.Pointer[error]

	mu     sync.Mutex     // one writer at a time
	counts map[string]int // of runs by bucket: counting them anew would read them all
}

// Open opens or makes the database file. At most keep runs are kept of each
// tenant. keep 0 keeps all.
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
		return err
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, errors.New("another process has it open; stop that one, give this orchestrator a runs file of its own, or let them share a directory (runs.dir)")
	}
	if err != nil {
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
			return meta.Put(versionKey, []byte(formatOneTenant))
		case formatOneTenant, formatTenants:
			return nil
		default:
			return fmt.Errorf("it is of format %q and this build reads up to %q: use the build that wrote it, or another file", v, formatTenants)
		}
	})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close closes the file. One that turned out to be damaged while it was written
// stays open until the process ends.
func (d *DB) Close() error {
	if err := d.broken.Load(); err != nil {
		return *err
	}
	return d.bolt.Close()
}

// Of implements Tenants.
func (d *DB) Of(id tenant.ID) (Store, error) {
	switch {
	case id.IsZero():
		return nil, tenant.ErrNone
	case id.IsDefault():
		return shelf{d, runsBucket}, nil
	}
	return shelf{d, []byte("@" + id.String())}, nil
}

// shelf is the bucket of one tenant. It is made with the tenant's first run.
type shelf struct {
	db   *DB
	name []byte
}

// Put implements Store. All of them are one write to the disk: it is kept whole
// or not at all.
func (s shelf) Put(all ...*orchestratorv1.Run) error {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	count, counted := s.db.counts[string(s.name)]
	err := s.db.update(func(tx *bbolt.Tx) error {
		b, err := s.bucket(tx)
		if err != nil {
			return err
		}
		if !counted {
			count = b.Stats().KeyN
		}
		for _, run := range all {
			isNew, err := put(b, run)
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

// put says whether there was no run of the id.
func put(b *bbolt.Bucket, run *orchestratorv1.Run) (isNew bool, err error) {
	id := []byte(run.GetId())
	value, err := encode(run)
	if err != nil {
		return false, err
	}
	isNew = b.Get(id) == nil
	return isNew, b.Put(id, value)
}

// bucket is the tenant's, made where there is none.
func (s shelf) bucket(tx *bbolt.Tx) (*bbolt.Bucket, error) {
	if b := tx.Bucket(s.name); b != nil {
		return b, nil
	}
	if err := tx.Bucket(metaBucket).Put(versionKey, []byte(formatTenants)); err != nil {
		return nil, err
	}
	return tx.CreateBucket(s.name)
}

// Get implements Store.
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
		run, err = decodeKept(value, id, whole)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	return run, nil
}

// List implements Store. A damaged run is passed over: Get says what is wrong
// with it.
func (s shelf) List(ctx context.Context, size int, before string, filter Filter) ([]*orchestratorv1.Run, string, error) {
	g := gathering{size: size, filter: filter}
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
			if run, err := decodeKept(v, string(k), outline); err == nil && !g.add(run) {
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
