package weaviate

import (
	"context"
	"fmt"
	"io"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// WriteDelta implements store.Changer: snapshots are whole here.
func (s *Store) WriteDelta(ctx context.Context, kg string, delta store.Delta) (store.Changed, error) {
	if _, err := s.resolve(ctx, kg, delta.Base); err != nil {
		return store.Changed{}, wrap("change", kg, delta.Base, err)
	}
	return store.Changed{}, wrap("change", kg, 0, fmt.Errorf("a Weaviate cluster holds whole snapshots; load the changed graph whole: %w", store.ErrUnsupported))
}

// Compact implements store.Changer: a whole snapshot is returned as it is.
func (s *Store) Compact(ctx context.Context, kg string, number uint64) (store.Info, error) {
	e, err := s.resolve(ctx, kg, number)
	return e.Info, wrap("compact", kg, number, err)
}

// Export implements store.Exporter.
func (s *Store) Export(ctx context.Context, kg string, number uint64, _ io.Writer) error {
	if _, err := s.resolve(ctx, kg, number); err != nil {
		return wrap("export", kg, number, err)
	}
	return wrap("export", kg, number, fmt.Errorf("back up a Weaviate cluster by its own means, or keep the files that were loaded: %w", store.ErrUnsupported))
}
