package auth_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		what, name string
		ok         bool
	}{
		{"a word", "acme", true},
		{"a word with digits and dashes", "team-7b", true},
		{"one letter", "a", true},
		{"forty characters", strings.Repeat("a", 40), true},
		{"forty-one", strings.Repeat("a", 41), false},
		{"nothing", "", false},
		{"a capital", "Acme", false},
		{"a leading digit", "7b", false},
		{"a path", "../acme", false},
		{"a line", "acme\n", false},
		{"a character outside ASCII", "äcme", false},
	} {
		t.Run(c.what, func(t *testing.T) {
			id, err := auth.ParseTenant(c.name)
			if (err == nil) != c.ok {
				t.Fatalf("%q: error %v", c.name, err)
			}
			if c.ok && id.String() != c.name {
				t.Errorf("%q became %q", c.name, id)
			}
			if id.IsZero() == c.ok {
				t.Errorf("%q: zero is %v", c.name, id.IsZero())
			}
		})
	}
}

func TestAContextWithoutATenantIsAnError(t *testing.T) {
	if _, err := auth.TenantFrom(t.Context()); !errors.Is(err, auth.ErrNoTenant) {
		t.Errorf("got %v, want ErrNone", err)
	}
	if _, err := auth.TenantFrom(auth.WithTenant(t.Context(), auth.Tenant{})); !errors.Is(err, auth.ErrNoTenant) {
		t.Errorf("of the zero tenant: got %v, want ErrNone", err)
	}
	id, err := auth.TenantFrom(auth.WithTenant(t.Context(), auth.DefaultTenant()))
	if err != nil || !id.IsDefault() {
		t.Errorf("got %v, %v, want the default tenant", id, err)
	}
}

func TestMetricsNameTheTenant(t *testing.T) {
	if got := auth.TenantAttribute(auth.WithTenant(t.Context(),
		auth.DefaultTenant())); got.Key != "triplemesh.tenant" ||
		got.Value.AsString() != "default" {
		t.Errorf("got %v", got)
	}
	if got := auth.TenantAttribute(t.Context()); got.Value.AsString() != "none" {
		t.Errorf("of no tenant: %v", got)
	}
}

// A name goes into paths, labels and collections of a database.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"acme", "", "Acme", "../x", "a-1", "-a", "a\n", "a\x00", "ä", "a/b",
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnop"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		id, err := auth.ParseTenant(name)
		if err != nil {
			return
		}
		if id.String() != name || id.IsZero() || len(name) > 40 ||
			strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("%q was taken for the tenant %q", name, id)
		}
	})
}
