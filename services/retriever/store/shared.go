package store

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/triplemesh/triplemesh/internal/tenant"
)

// Shared lets every tenant read the knowledge graphs of one of them, who alone
// can change them. Where a tenant has a knowledge graph of the same name, that
// one is meant.
func Shared(tenants Tenants, by tenant.ID) Tenants { return shared{tenants, by} }

type shared struct {
	Tenants
	by tenant.ID
}

// Of implements Tenants.
func (s shared) Of(id tenant.ID) (Store, error) {
	own, err := s.Tenants.Of(id)
	if err != nil || id == s.by {
		return own, err
	}
	common, err := s.Tenants.Of(s.by)
	if err != nil {
		return nil, err
	}
	return overlaid{own, common}, nil
}

// overlaid is a tenant's own store over the one that is shared. What is not
// here is done in the tenant's own.
type overlaid struct {
	Store
	common Store
}

// Own is the tenant's own store alone.
func (o overlaid) Own() Store { return o.Store }

// inCommon says, of a knowledge graph that the own store did not find, whether
// the one that is shared is meant: not where only a number is unknown.
func (o overlaid) inCommon(ctx context.Context, kg string, err error) bool {
	if !errors.Is(err, ErrNotFound) {
		return false
	}
	_, err = o.Store.List(ctx, kg)
	return errors.Is(err, ErrNotFound)
}

// readOnly turns an error about a knowledge graph that is shared into one that
// says so.
func (o overlaid) readOnly(ctx context.Context, op, kg string, number uint64, err error) error {
	if !o.inCommon(ctx, kg, err) {
		return err
	}
	if _, listed := o.common.List(ctx, kg); listed != nil {
		return err
	}
	return &Error{Op: op, KG: kg, Number: number, Err: ErrShared}
}

// Open implements Opener.
func (o overlaid) Open(ctx context.Context, kg string, number uint64) (Snapshot, error) {
	snap, err := o.Store.Open(ctx, kg, number)
	if o.inCommon(ctx, kg, err) {
		return o.common.Open(ctx, kg, number)
	}
	return snap, err
}

// List implements Catalogue.
func (o overlaid) List(ctx context.Context, kg string) ([]Listed, error) {
	own, err := o.Store.List(ctx, kg)
	if err != nil && !errors.Is(err, ErrNotFound) || kg != "" && err == nil {
		return own, err
	}
	common, err := o.common.List(ctx, kg)
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for _, l := range own {
		has[l.KG] = true
	}
	for _, l := range common {
		if l.Shared = true; !has[l.KG] {
			own = append(own, l)
		}
	}
	slices.SortStableFunc(own, func(a, b Listed) int { return cmp.Compare(a.KG, b.KG) })
	return own, nil
}

// Verify implements Catalogue.
func (o overlaid) Verify(ctx context.Context, kg string, number uint64) (Info, int64, error) {
	info, read, err := o.Store.Verify(ctx, kg, number)
	if o.inCommon(ctx, kg, err) {
		return o.common.Verify(ctx, kg, number)
	}
	return info, read, err
}

// Export implements Exporter.
func (o overlaid) Export(ctx context.Context, kg string, number uint64, to io.Writer) error {
	err := o.Store.Export(ctx, kg, number, to)
	if o.inCommon(ctx, kg, err) {
		return o.common.Export(ctx, kg, number, to)
	}
	return err
}

// Activate implements Catalogue.
func (o overlaid) Activate(ctx context.Context, kg string, number uint64) (Info, error) {
	info, err := o.Store.Activate(ctx, kg, number)
	return info, o.readOnly(ctx, "activate", kg, number, err)
}

// Rollback implements Catalogue.
func (o overlaid) Rollback(ctx context.Context, kg string) (Info, error) {
	info, err := o.Store.Rollback(ctx, kg)
	return info, o.readOnly(ctx, "roll back", kg, 0, err)
}

// Drop implements Catalogue.
func (o overlaid) Drop(ctx context.Context, kg string, number uint64) ([]uint64, error) {
	dropped, err := o.Store.Drop(ctx, kg, number)
	return dropped, o.readOnly(ctx, "drop", kg, number, err)
}

// Compact implements Changer.
func (o overlaid) Compact(ctx context.Context, kg string, number uint64) (Info, error) {
	info, err := o.Store.Compact(ctx, kg, number)
	return info, o.readOnly(ctx, "compact", kg, number, err)
}

// WriteDelta implements Changer.
func (o overlaid) WriteDelta(ctx context.Context, kg string, delta Delta) (Changed, error) {
	changed, err := o.Store.WriteDelta(ctx, kg, delta)
	return changed, o.readOnly(ctx, "change", kg, delta.Base, err)
}
