package runs_test

import (
	"path/filepath"
	"testing"

	"github.com/triplemesh/triplemesh/internal/tenant"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs/runstest"
)

// BenchmarkStores is what it takes to keep a run beside 2,000, and to list the
// newest 50 of them.
func BenchmarkStores(b *testing.B) {
	const kept = 2000
	for name, open := range map[string]func(path string) (runs.Tenants, error){
		"file": func(path string) (runs.Tenants, error) { return runs.Open(filepath.Join(path, "runs.db"), kept) },
		"dir":  func(path string) (runs.Tenants, error) { return runs.OpenDir(path, kept, nil) },
	} {
		tenants, err := open(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		defer tenants.Close()
		store := runstest.Of(b, tenants, tenant.Default())
		runstest.Put(b, store, 0, kept)
		next := kept
		b.Run(name+"/put", func(b *testing.B) {
			for b.Loop() {
				runstest.Put(b, store, next, next+1)
				next++
			}
		})
		b.Run(name+"/list", func(b *testing.B) {
			for b.Loop() {
				if page, _, err := store.List(b.Context(), 50, "", runs.Filter{}); err != nil || len(page) != 50 {
					b.Fatal(len(page), err)
				}
			}
		})
	}
}
