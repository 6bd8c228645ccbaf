package store

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/triplemesh/triplemesh/internal/auth"
)

// WithSharedGraphs lets every tenant read the knowledge graphs of one of them, who alone can change
// them. If a tenant has a knowledge graph of the same name, that one is meant.
func WithSharedGraphs(tenants Tenants, by auth.Tenant) Tenants { return sharingTenants{tenants, by} }

type sharingTenants struct {
	Tenants
	owner auth.Tenant
}

// ForTenant implements Tenants.
func (s sharingTenants) ForTenant(id auth.Tenant) (Store, error) {
	own, err := s.Tenants.ForTenant(id)
	if err != nil || id == s.owner {
		return own, err
	}
	common, err := s.Tenants.ForTenant(s.owner)
	if err != nil {
		return nil, err
	}
	return overlayStore{own, common}, nil
}

// overlayStore is a tenant's own store over the one that is shared. What is not
// here is done in the tenant's own.
type overlayStore struct {
	Store
	shared Store
}

// Own is the tenant's own store alone.
func (o overlayStore) Own() Store { return o.Store }

// isShared reports whether an error of the tenant's own store means that the shared knowledge graph is
// meant: the name is unknown there, not just the number.
func (o overlayStore) isShared(ctx context.Context, kg string, err error) bool {
	if !errors.Is(err, ErrNotFound) {
		return false
	}
	_, err = o.Store.List(ctx, kg)
	return errors.Is(err, ErrNotFound)
}

// explainReadOnly turns a not-found error into ErrShared if the knowledge graph is shared.
func (o overlayStore) explainReadOnly(ctx context.Context, op, kg string, number uint64, err error) error {
	if !o.isShared(ctx, kg, err) {
		return err
	}
	if _, listed := o.shared.List(ctx, kg); listed != nil {
		return err
	}
	return &Error{Op: op, KG: kg, Number: number, Err: ErrShared}
}

// Open implements Opener.
func (o overlayStore) Open(ctx context.Context, kg string, number uint64) (Snapshot, error) {
	snap, err := o.Store.Open(ctx, kg, number)
	if o.isShared(ctx, kg, err) {
		return o.shared.Open(ctx, kg, number)
	}
	return snap, err
}

// List implements Catalogue.
func (o overlayStore) List(ctx context.Context, kg string) ([]ListedSnapshot, error) {
	own, err := o.Store.List(ctx, kg)
	if err != nil && !errors.Is(err, ErrNotFound) || kg != "" && err == nil {
		return own, err
	}
	common, err := o.shared.List(ctx, kg)
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
	slices.SortStableFunc(own, func(a, b ListedSnapshot) int { return cmp.Compare(a.KG, b.KG) })
	return own, nil
}

// Verify implements Catalogue.
func (o overlayStore) Verify(ctx context.Context, kg string, number uint64) (Info, int64, error) {
	info, read, err := o.Store.Verify(ctx, kg, number)
	if o.isShared(ctx, kg, err) {
		return o.shared.Verify(ctx, kg, number)
	}
	return info, read, err
}

// Export implements Exporter.
func (o overlayStore) Export(ctx context.Context, kg string, number uint64, to io.Writer) error {
	err := o.Store.Export(ctx, kg, number, to)
	if o.isShared(ctx, kg, err) {
		return o.shared.Export(ctx, kg, number, to)
	}
	return err
}

// Activate implements Catalogue.
func (o overlayStore) Activate(ctx context.Context, kg string, number uint64) (Info, error) {
	info, err := o.Store.Activate(ctx, kg, number)
	return info, o.explainReadOnly(ctx, "activate", kg, number, err)
}

// Rollback implements Catalogue.
func (o overlayStore) Rollback(ctx context.Context, kg string) (Info, error) {
	info, err := o.Store.Rollback(ctx, kg)
	return info, o.explainReadOnly(ctx, "roll back", kg, 0, err)
}

// Drop implements Catalogue.
func (o overlayStore) Drop(ctx context.Context, kg string, number uint64) ([]uint64, error) {
	dropped, err := o.Store.Drop(ctx, kg, number)
	return dropped, o.explainReadOnly(ctx, "drop", kg, number, err)
}

// Compact implements Changer.
func (o overlayStore) Compact(ctx context.Context, kg string, number uint64) (Info, error) {
	info, err := o.Store.Compact(ctx, kg, number)
	return info, o.explainReadOnly(ctx, "compact", kg, number, err)
}

// WriteDelta implements Changer.
func (o overlayStore) WriteDelta(ctx context.Context, kg string, delta Delta) (DeltaResult, error) {
	changed, err := o.Store.WriteDelta(ctx, kg, delta)
	return changed, o.explainReadOnly(ctx, "change", kg, delta.Base, err)
}
