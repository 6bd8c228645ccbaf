package store

import "context"

// Writer builds snapshots.
type Writer interface {
	// Write builds a snapshot under the next number and leaves the active one
	// as it is. After an error nothing of it remains.
	Write(ctx context.Context, kg string, content Content) (Info, error)
}

// Listed is a snapshot in a list.
type Listed struct {
	Info
	// Active says that questions read it.
	Active bool
	// Shared says that it is another tenant's, who lets all read it.
	Shared bool
}

// Catalogue lists and switches snapshots.
type Catalogue interface {
	// List names the snapshots by knowledge graph, newest first; an empty kg
	// lists all. A named one that does not exist is ErrNotFound. Of a
	// snapshot that is damaged, no more than its name may be known.
	List(ctx context.Context, kg string) ([]Listed, error)
	// Activate makes a snapshot the one that questions read.
	Activate(ctx context.Context, kg string, number uint64) (Info, error)
	// Rollback activates the snapshot that was active before; ErrNoPrevious
	// where there is none.
	Rollback(ctx context.Context, kg string) (Info, error)
	// Drop removes one snapshot that is not active, or with number 0 the
	// knowledge graph whole, and returns the numbers removed. The base of another
	// snapshot stays: ErrBase. Snapshots that are open stay readable until they
	// are released.
	Drop(ctx context.Context, kg string, number uint64) ([]uint64, error)
	// Verify reads a snapshot whole, with all that it is based on, and compares
	// every checksum; number 0 takes the active one. It returns the bytes read.
	Verify(ctx context.Context, kg string, number uint64) (Info, int64, error)
}

// Store is all that a backend offers.
type Store interface {
	Opener
	Writer
	Changer
	Exporter
	Catalogue
}
