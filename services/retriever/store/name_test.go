package store_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"wikidata": true, "a": true, "web-qsp_2": true, strings.Repeat("a", 63): true,
		"": false, strings.Repeat("a", 64): false, "Wikidata": false, "2024": false, "wiki data": false,
		"wiki\n": false,
		".":      false, "..": false, "../up": false, "a/b": false, `a\b`: false, "/etc": false,
		"a\x00": false, "é": false,
		// What lies beside knowledge graphs in a store's directory.
		"@acme": false, "@acme/wikidata": false, ".loading": false, ".lock": false, "CURRENT": false,
	} {
		if err := store.CheckName(name); (err == nil) != ok || err != nil && !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: error %v, may be a name: %v", name, err, ok)
		}
	}
}

func FuzzNamesStayWithinTheirDirectory(f *testing.F) {
	for _, seed := range []string{"wikidata", "..", "@acme", "a/../../b", "a\x00b", "con", "-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if store.CheckName(name) == nil && (filepath.Dir(filepath.Join("/kg", name)) != "/kg" ||
			filepath.Base(name) != name || strings.HasPrefix(name, "@")) {
			t.Errorf("%q is taken for a name", name)
		}
	})
}
