package testkit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

func TestCheckoutFile(t *testing.T) {
	data, err := os.ReadFile(testkit.CheckoutFile(t, "internal", "go.mod"))
	if err != nil || !contains(string(data), "module github.com/triplemesh/triplemesh/internal") {
		t.Errorf("got %.60q, %v", data, err)
	}
	if said := fails(func(tb testing.TB) { testkit.CheckoutFile(tb, "no", "such") }); !contains(said,
		filepath.Join("no", "such")) {
		t.Errorf("said %q", said)
	}
}

func TestPlacesOutsideTheCheckout(t *testing.T) {
	for _, c := range []struct {
		name, env, mend string
		find            func(testing.TB, ...string) string
	}{
		{"the cache", "TRIPLEMESH_CACHE", "make setup", testkit.Cache},
		{"shared data", "TRIPLEMESH_DATA", "TRIPLEMESH_DATA", testkit.SharedData},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv(c.env, dir)
			if err := os.WriteFile(filepath.Join(dir, "there"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := c.find(t, "there"); got != filepath.Join(dir, "there") {
				t.Errorf("got %s", got)
			}
			if said := fails(func(tb testing.TB) { c.find(tb, "missing") }); !contains(said, c.mend) ||
				!contains(said, "missing") {
				t.Errorf("said %q, want %q", said, c.mend)
			}
		})
	}
}

func TestRequestWithoutARuleFailsTheTest(t *testing.T) {
	said := fails(func(tb testing.TB) {
		m := testkit.NewLLM(tb)
		m.On(testkit.Contains("else")).Reply("x")
		post(t, m, user("surprise"))
	})
	if want := `no rule for task "answer", last user message "surprise"`; !contains(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}
