// Package runs keeps answered questions in an embedded database.
package runs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"google.golang.org/protobuf/proto"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// ErrNotFound says that there is no run of an id.
var ErrNotFound = errors.New("run not found")

// formatVersion is written into the database; a database of a later version is
// refused.
const formatVersion = "1"

var (
	runsBucket = []byte("runs")
	metaBucket = []byte("meta")
	versionKey = []byte("version")
)

// lockPatience is how long to wait for another process to let the file go.
const lockPatience = 2 * time.Second

// DB holds runs by id. Ids sort by time. Safe for concurrent use.
type DB struct {
	bolt *bbolt.DB
	keep int
}

// Open opens or makes the database file. At most keep runs are kept; the
// oldest go first. keep 0 keeps all.
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
	b, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockPatience})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, errors.New("another process has it open; stop that one, or give this orchestrator a runs file of its own")
	}
	if err != nil {
		return nil, err
	}
	err = b.Update(func(tx *bbolt.Tx) error {
		if _, err := tx.CreateBucketIfNotExists(runsBucket); err != nil {
			return err
		}
		meta, err := tx.CreateBucketIfNotExists(metaBucket)
		if err != nil {
			return err
		}
		if v := meta.Get(versionKey); v != nil && string(v) != formatVersion {
			return fmt.Errorf("it is of format %q and this build reads %q: use the build that wrote it, or another file", v, formatVersion)
		}
		return meta.Put(versionKey, []byte(formatVersion))
	})
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return &DB{bolt: b, keep: keep}, nil
}

// Close closes the file.
func (d *DB) Close() error { return d.bolt.Close() }

// Put keeps a run under its id, and lets the oldest go where there are too
// many. Writes of several goroutines share one sync to disk.
func (d *DB) Put(run *orchestratorv1.Run) error {
	value, err := proto.Marshal(run)
	if err != nil {
		return fmt.Errorf("keep run %s: %w", run.GetId(), err)
	}
	err = d.bolt.Batch(func(tx *bbolt.Tx) error {
		b := tx.Bucket(runsBucket)
		if err := b.Put([]byte(run.GetId()), value); err != nil {
			return err
		}
		if d.keep == 0 {
			return nil
		}
		c := b.Cursor()
		for over := b.Stats().KeyN - d.keep; over > 0; over-- {
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
		return fmt.Errorf("keep run %s: %w", run.GetId(), err)
	}
	return nil
}

// Get reads a run. The error is ErrNotFound where there is none.
func (d *DB) Get(id string) (*orchestratorv1.Run, error) {
	var run *orchestratorv1.Run
	err := d.bolt.View(func(tx *bbolt.Tx) error {
		value := tx.Bucket(runsBucket).Get([]byte(id))
		if value == nil {
			return ErrNotFound
		}
		run = &orchestratorv1.Run{}
		return proto.Unmarshal(value, run)
	})
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	return run, nil
}

// Filter narrows a list; empty fields take all.
type Filter struct {
	Method, KG string
}

// List returns up to size runs older than before (an id; empty begins with the
// newest), newest first, without graphs, stages and spans. next is where the
// following page begins; empty on the last.
func (d *DB) List(size int, before string, filter Filter) (page []*orchestratorv1.Run, next string, err error) {
	err = d.bolt.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(runsBucket).Cursor()
		k, v := c.Last()
		if before != "" {
			if k, _ = c.Seek([]byte(before)); k == nil {
				k, v = c.Last()
			} else {
				k, v = c.Prev()
			}
		}
		for ; k != nil; k, v = c.Prev() {
			run := &orchestratorv1.Run{}
			if err := proto.Unmarshal(v, run); err != nil {
				return fmt.Errorf("run %s: %w", k, err)
			}
			if filter.Method != "" && run.GetMethod() != filter.Method || filter.KG != "" && run.GetKg().GetName() != filter.KG {
				continue
			}
			if len(page) == size {
				next = page[size-1].GetId()
				return nil
			}
			run.Graphs, run.Stages, run.Spans = nil, nil, nil
			page = append(page, run)
		}
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("list runs: %w", err)
	}
	return page, next, nil
}
