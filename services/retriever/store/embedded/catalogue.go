package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// List implements store.Catalogue.
func (s *Store) List(ctx context.Context, kg string) ([]store.ListedSnapshot, error) {
	if kg != "" {
		if _, err := s.snapshotNumbers(kg); err != nil {
			return nil, store.WrapError("list", kg, 0, err)
		}
		return s.listOne(ctx, kg)
	}
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list knowledge graphs: %w", err)
	}
	var all []store.ListedSnapshot
	for _, e := range entries {
		if !e.IsDir() || store.CheckName(e.Name()) != nil {
			continue
		}
		some, err := s.listOne(ctx, e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (s *Store) listOne(ctx context.Context, kg string) ([]store.ListedSnapshot, error) {
	numbers, err := s.snapshotNumbers(kg)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, store.WrapError("list", kg, 0, err)
	}
	// An unreadable CURRENT makes nothing active; Open says why.
	current, _ := s.readCurrent(kg)
	var listed []store.ListedSnapshot
	for _, n := range numbers {
		if err := ctx.Err(); err != nil {
			return nil, store.WrapError("list", kg, 0, err)
		}
		info := store.Info{KG: kg, Number: n}
		// A damaged snapshot is there all the same; Open says what is wrong.
		if read, err := s.manifests.info(s.snapshotDir(kg, n)); err == nil {
			info = read
		}
		listed = append(listed, store.ListedSnapshot{Info: info, Active: n == current.Active})
	}
	return listed, nil
}

// snapshotNumbers returns the numbers of a knowledge graph that has any.
func (s *Store) snapshotNumbers(kg string) ([]uint64, error) {
	if err := store.CheckName(kg); err != nil {
		return nil, err
	}
	numbers, err := s.numbers(kg)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(numbers) == 0 {
		return nil, store.ErrNotFound
	}
	return numbers, err
}

// Activate implements store.Catalogue. It opens the snapshot first: one that cannot be read never
// replaces one that can. Its pages are compared when they are read, or by Verify.
func (s *Store) Activate(ctx context.Context, kg string, number uint64) (store.Info, error) {
	if number == 0 {
		return store.Info{}, store.WrapError("activate", kg, 0,
			store.Invalidf("no snapshot number; name the snapshot to activate"))
	}
	if _, err := s.resolve(kg, number); err != nil {
		return store.Info{}, store.WrapError("activate", kg, number, err)
	}
	unlock, err := s.lock(ctx, kg)
	if err != nil {
		return store.Info{}, store.WrapError("activate", kg, number, err)
	}
	defer unlock()
	// A CURRENT that cannot be read is written again, but for one that a newer program reads.
	before, err := s.readCurrent(kg)
	if errors.Is(err, store.ErrFormat) {
		return store.Info{}, store.WrapError("activate", kg, number, err)
	}
	return s.switchTo(ctx, kg, before.activate(number))
}

// Rollback implements store.Catalogue.
func (s *Store) Rollback(ctx context.Context, kg string) (store.Info, error) {
	if _, err := s.snapshotNumbers(kg); err != nil {
		return store.Info{}, store.WrapError("roll back", kg, 0, err)
	}
	unlock, err := s.lock(ctx, kg)
	if err != nil {
		return store.Info{}, store.WrapError("roll back", kg, 0, err)
	}
	defer unlock()
	before, err := s.readCurrent(kg)
	if err != nil {
		return store.Info{}, store.WrapError("roll back", kg, 0, err)
	}
	last := len(before.Previous) - 1
	if last < 0 {
		return store.Info{}, store.WrapError("roll back", kg, 0, store.ErrNoPrevious)
	}
	return s.switchTo(ctx, kg, current{Active: before.Previous[last], Previous: before.Previous[:last]})
}

func (s *Store) switchTo(ctx context.Context, kg string, to current) (store.Info, error) {
	snapshot, err := s.Open(ctx, kg, to.Active)
	if err != nil {
		return store.Info{}, store.WrapError("activate", kg, to.Active, err)
	}
	defer snapshot.Release()
	if err := s.writeCurrent(kg, to); err != nil {
		return store.Info{}, store.WrapError("activate", kg, to.Active, err)
	}
	return snapshot.Info(), nil
}

// Drop implements store.Catalogue.
func (s *Store) Drop(ctx context.Context, kg string, number uint64) ([]uint64, error) {
	dropped, err := s.drop(ctx, kg, number)
	return dropped, store.WrapError("drop", kg, number, err)
}

func (s *Store) drop(ctx context.Context, kg string, number uint64) ([]uint64, error) {
	numbers, err := s.snapshotNumbers(kg)
	if err != nil {
		return nil, err
	}
	unlock, err := s.lock(ctx, kg)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if number == 0 {
		defer s.evict(kg, numbers...)
		return numbers, s.disk.RemoveAll(s.kgDir(kg))
	}
	if !slices.Contains(numbers, number) {
		return nil, store.ErrNotFound
	}
	before, err := s.readCurrent(kg)
	if err != nil {
		return nil, err
	}
	if before.Active == number {
		return nil, store.ErrActive
	}
	for _, n := range numbers {
		// A manifest that cannot be read says nothing; its snapshot is lost either way.
		if m, _, err := readManifest(s.snapshotDir(kg, n)); err == nil && m.Base != nil && m.Base.Number == number {
			return nil, fmt.Errorf("%s@%d: %w", kg, n, store.ErrBase)
		}
	}
	// First out of the history, so that no rollback leads to a half-removed snapshot.
	if slices.Contains(before.Previous, number) {
		after := current{Active: before.Active, Previous: slices.DeleteFunc(before.Previous,
			func(n uint64) bool { return n == number })}
		if err := s.writeCurrent(kg, after); err != nil {
			return nil, err
		}
	}
	defer s.evict(kg, number)
	return []uint64{number}, s.disk.RemoveAll(s.snapshotDir(kg, number))
}

// evict releases snapshots that are no longer there.
func (s *Store) evict(kg string, numbers ...uint64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, n := range numbers {
		if e, ok := s.opened[name{kg, n}]; ok {
			e.evict()
			delete(s.opened, name{kg, n})
		}
	}
}

// Verify implements store.Catalogue. It reads the files again, whether or not
// the snapshot is open, and those of all that it is based on.
func (s *Store) Verify(ctx context.Context, kg string, number uint64) (store.Info, int64, error) {
	number, err := s.resolve(kg, number)
	if err != nil {
		return store.Info{}, 0, store.WrapError("verify", kg, number, err)
	}
	fresh := New(s.dir)
	defer fresh.Close()
	snap, err := fresh.openChain(ctx, kg, number)
	if err != nil {
		return store.Info{}, 0, store.WrapError("verify", kg, number, err)
	}
	defer snap.Release()
	var read int64
	for _, l := range snap.layers {
		if err := l.mapping.verify(ctx); err != nil {
			if at := l.mapping.manifest.Number; at != number {
				err = fmt.Errorf("its base %d: %w", at, err)
			}
			return store.Info{}, 0, store.WrapError("verify", kg, number, err)
		}
		read += l.mapping.manifest.info().Bytes
	}
	return snap.info, read, nil
}

func sortDescending(numbers []uint64) {
	slices.Sort(numbers)
	slices.Reverse(numbers)
}
