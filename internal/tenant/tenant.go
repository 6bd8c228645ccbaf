// Package tenant names whose knowledge graphs, runs, cached answers and quotas
// are meant. A tenant comes from who the caller proved to be, never from what a
// request says.
package tenant

import (
	"context"
	"errors"
	"fmt"
	"regexp"
)

// ID is a tenant. The zero ID is none: what is asked for it is refused, so that
// code which forgot the tenant reads nobody's data rather than somebody's.
type ID struct {
	name string
}

// defaultName is the tenant of a mesh whose callers need not say who they are.
const defaultName = "default"

// Default is the one tenant of a mesh that asks nobody who they are.
func Default() ID { return ID{defaultName} }

// names are short enough for a directory, a label of a metric and a part of the
// name of a collection.
var names = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// Parse reads a tenant's name: a lower-case letter and up to 39 of a-z, 0-9 and
// -.
func Parse(name string) (ID, error) {
	if !names.MatchString(name) {
		return ID{}, fmt.Errorf("tenant %q: a name is a lower-case letter and up to 39 of a-z, 0-9 and -", name)
	}
	return ID{name}, nil
}

// String is the tenant's name; empty for none.
func (id ID) String() string { return id.name }

// IsZero says that it is no tenant.
func (id ID) IsZero() bool { return id.name == "" }

// IsDefault says that it is the tenant Default.
func (id ID) IsDefault() bool { return id.name == defaultName }

type key struct{}

// With gives a context the tenant for whom all in it is done.
func With(ctx context.Context, id ID) context.Context {
	return context.WithValue(ctx, key{}, id)
}

// ErrNone says that a context has no tenant. A server gives every request one,
// so it is a fault of the program.
var ErrNone = errors.New("it is not known for which tenant this is done")

// From is the context's tenant.
func From(ctx context.Context) (ID, error) {
	id, _ := ctx.Value(key{}).(ID)
	if id.IsZero() {
		return ID{}, ErrNone
	}
	return id, nil
}
