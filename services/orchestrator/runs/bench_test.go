package runs_test

import (
	"path/filepath"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

// BenchmarkStores is what it takes to keep a run beside 2,000, alone and by a
// Keeper that others give runs to as well, to list the newest 50 of them, and to
// search them all.
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
		store := openTenant(b, tenants, auth.DefaultTenant())
		saveRuns(b, store, 0, kept)
		next := kept
		b.Run(name+"/put", func(b *testing.B) {
			for b.Loop() {
				saveRuns(b, store, next, next+1)
				next++
			}
		})
		b.Run(name+"/search", func(b *testing.B) {
			for b.Loop() {
				if page, _, err := store.List(b.Context(), 50, "", runs.Filter{Query: "nowhere"}); err != nil ||
					len(page) != 0 {
					b.Fatal(len(page), err)
				}
			}
		})
		keeper := runs.NewKeeper(tenants, func(_ *orchestratorv1.Run, err error) { b.Error(err) })
		defer keeper.Close()
		behind := openTenant(b, keeper, auth.DefaultTenant())
		b.Run(name+"/keep", func(b *testing.B) {
			for b.Loop() {
				saveRuns(b, behind, next, next+1)
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
