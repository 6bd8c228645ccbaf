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
// caller's goroutine, where a panic can be caught.
func (d *DB) update(do func(*bbolt.Tx) error) error {
	return guard(func() error { return d.bolt.Update(do) })
}

func (d *DB) view(do func(*bbolt.Tx) error) error {
	return guard(func() error { return d.bolt.View(do) })
}
