package weaviate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
)

// loadsDir is below Config.Dir.
const loadsDir = "loads"

// Write implements store.Writer. It first builds the content on this machine,
// which finds all that is wrong with it, then copies it.
func (s *Store) Write(ctx context.Context, kg string, content store.Content) (store.Info, error) {
	return s.buildAndCopy(ctx, kg, func(local *embedded.Store) (store.Info, error) {
		return local.Write(ctx, kg, content)
	})
}

// Import implements store.Exporter.
func (s *Store) Import(ctx context.Context, kg string, from io.Reader) (store.Info, error) {
	return s.buildAndCopy(ctx, kg, func(local *embedded.Store) (store.Info, error) {
		return local.Import(ctx, kg, from)
	})
}

// buildAndCopy has a snapshot built in an embedded store, and copies it.
func (s *Store) buildAndCopy(ctx context.Context, kg string, build func(*embedded.Store) (store.Info,
	error)) (info store.Info, err error) {
	dir, remove, err := scratchDir(filepath.Join(s.cluster.config.Dir, loadsDir))
	if err != nil {
		return info, store.WrapError("load", kg, 0, err)
	}
	local := embedded.New(dir)
	defer func() { err = errors.Join(err, local.Close(), remove()) }()
	built, err := build(local)
	if err != nil {
		return info, err
	}
	err = store.Guard(func() (err error) {
		l, err := newSnapshotCopy(ctx, s.cluster, local, built, dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, l.close()) }()
		info, err = s.copy(ctx, built.KG, l)
		return err
	})
	return info, store.WrapError("load", built.KG, info.Number, err)
}

// copy sends a snapshot to the cluster. It is listed when all of it is there.
func (s *Store) copy(ctx context.Context, kg string, l *snapshotCopy) (store.Info, error) {
	claimed, err := s.claimNumber(ctx, kg, l.fingerprint)
	if err != nil {
		return store.Info{}, err
	}
	l.home, l.blockRows, l.entry.KG, l.entry.Number = s.home, s.blockRows, kg, claimed
	l.entry.Created = time.Now().UTC()
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.watch(working, stop, l)
	}()
	err = l.run(working)
	if err == nil {
		err = context.Cause(working)
	}
	stop(nil)
	<-watched
	if err == nil {
		err = s.publish(ctx, l.entry)
	} else if cause := context.Cause(working); errors.Is(err, context.Canceled) && cause != nil && ctx.Err() == nil {
		err = cause
	}
	if err != nil {
		return l.entry.Info, errors.Join(err, s.removePartial(ctx, kg, claimed))
	}
	return l.entry.Info, nil
}

// claimNumber returns a new number, or that of an abandoned load of the same content, and removes
// other abandoned loads.
func (s *Store) claimNumber(ctx context.Context, kg, fingerprint string) (number uint64, err error) {
	now := time.Now().UTC()
	mine := pendingLoad{Fingerprint: fingerprint, Owner: s.owner, Beat: now}
	_, err = s.change(ctx, kg, func(r *catalogueRecord) error {
		at := slices.IndexFunc(r.Pending, func(p pendingLoad) bool {
			return p.Fingerprint == fingerprint && now.Sub(p.Beat) > s.loadTimeout
		})
		if at >= 0 {
			mine.Number = r.Pending[at].Number
			r.Pending[at] = mine
		} else {
			mine.Number = r.Next
			r.Next++
			r.Pending = append(r.Pending, mine)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return mine.Number, s.clean(ctx, kg, mine.Number)
}

// publish lists a snapshot.
func (s *Store) publish(ctx context.Context, e entry) error {
	_, err := s.change(ctx, e.KG, func(r *catalogueRecord) error {
		at := slices.IndexFunc(r.Pending, func(p pendingLoad) bool { return p.Number == e.Number })
		if at < 0 || r.Pending[at].Owner != s.owner {
			return fmt.Errorf("another process resumed this load: %w", store.ErrBusy)
		}
		r.Pending = slices.Delete(r.Pending, at, at+1)
		r.Snapshots = append(r.Snapshots, e)
		return nil
	})
	return err
}

// removePartial removes what a failed load wrote, also if the caller cancelled.
// If the cluster cannot be reached, the next load removes it.
func (s *Store) removePartial(ctx context.Context, kg string, number uint64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*schemaTimeout)
	defer cancel()
	if err := s.deleteParts(ctx, kg, number); err != nil {
		return fmt.Errorf("remove what was loaded: %w", err)
	}
	_, err := s.change(ctx, kg, func(r *catalogueRecord) error {
		r.Pending = slices.DeleteFunc(r.Pending, func(p pendingLoad) bool {
			return p.Number == number && p.Owner == s.owner
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("remove what was loaded: %w", err)
	}
	return nil
}

// Intervals at which a load checks the nodes, and renews its claim.
const (
	watchInterval     = 500 * time.Millisecond
	heartbeatInterval = 15 * time.Second
)

// watch ends a load when a node with a replica is lost, even for a moment:
// rows that were written meanwhile would be missing there, and questions would
// find fewer of them when it is back. It also keeps the load's claim alive.
func (s *Store) watch(ctx context.Context, stop context.CancelCauseFunc, l *snapshotCopy) {
	next := time.Now().Add(heartbeatInterval)
	for sleep(ctx, watchInterval) == nil {
		if err := l.checkNodes(ctx); err != nil && ctx.Err() == nil {
			stop(err)
			return
		}
		if time.Now().Before(next) {
			continue
		}
		next = time.Now().Add(heartbeatInterval)
		_, err := s.change(ctx, l.entry.KG, func(r *catalogueRecord) error {
			for i := range r.Pending {
				if r.Pending[i].Number == l.entry.Number {
					r.Pending[i].Beat = time.Now().UTC()
				}
			}
			return nil
		})
		// A beat that is late does no harm; a claim that was lost comes to
		// light when the snapshot is listed.
		_ = err
	}
}

// checkNodes is an error that names a node that the load's collections need and
// that is not a member of the cluster any more. While it is one, a batch at ALL
// fails without it, however slow it is.
func (l *snapshotCopy) checkNodes(ctx context.Context) error {
	nodes, err := l.cluster.nodes(ctx, "")
	if err != nil {
		return nil // says nothing about who is lost; the batches will
	}
	for _, name := range l.nodes() {
		if !slices.ContainsFunc(nodes, func(n node) bool { return n.Name == name }) {
			return status.Errorf(codes.Unavailable,
				"weaviate node %s, which holds a part of the snapshot, is gone; load again when it is back", name)
		}
	}
	return nil
}
