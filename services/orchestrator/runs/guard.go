package runs

import (
	"fmt"
	"runtime/debug"

	"go.etcd.io/bbolt"
)

// guard makes an error of what bbolt does with a damaged file: it panics, or
// reads beyond the end of the memory map.
func guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the file is damaged (%v): move it away, and the next start makes a new one", r)
		}
	}()
	return do()
}

// update and view are bbolt's, guarded. All of a transaction runs on the
// caller's goroutine, where a panic can be caught. One that is caught while
// something is written may leave bbolt's own lock held: nothing is written after
// it, rather than wait for that lock for ever.
func (d *DB) update(do func(*bbolt.Tx) error) error {
	if err := d.broken.Load(); err != nil {
		return *err
	}
	ended := false
	err := guard(func() error {
		err := d.bolt.Update(do)
		ended = true
		return err
	})
	if !ended {
		d.broken.Store(&err)
	}
	return err
}

func (d *DB) view(do func(*bbolt.Tx) error) error {
	return guard(func() error { return d.bolt.View(do) })
}
