package store

import (
	"fmt"
	"runtime/debug"
)

// Fault is what a snapshot panics with where a method that returns no error
// meets damage, such as a page that differs from its checksum. Guard turns it
// into an error.
type Fault struct {
	// Err says what is damaged; it wraps ErrCorrupt.
	Err error
}

// Error implements error.
func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// Guard runs read and returns its error. Where read meets damage in a snapshot
// the error is ErrCorrupt: a Fault, or a file that somebody cut off while it
// was mapped. Other panics go on. Whoever reads a snapshot does so within
// Guard, in each goroutine that reads; guards may lie within one another.
func Guard(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Fault:
			err = p.Err
		case interface {
			error
			Addr() uintptr
		}:
			err = fmt.Errorf("a file was cut off while it was read (%v): %w", p, ErrCorrupt)
		default:
			panic(p)
		}
	}()
	return read()
}
