package runs_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

func TestDir(t *testing.T) {
	testConformance(t, func(t *testing.T) location {
		path := filepath.Join(t.TempDir(), "new folder", "runs")
		return func(keep int) (runs.Tenants, error) {
			return runs.OpenDir(path, keep, func(path string, err error) { t.Errorf("%s: %v", path, err) })
		}
	})
}

// openDir opens a directory and collects the reports.
func openDir(t *testing.T, path string, keep int) (store runs.Store, reported *[]string) {
	t.Helper()
	var mu sync.Mutex
	reported = new([]string)
	d, err := runs.OpenDir(path, keep, func(path string, err error) {
		mu.Lock()
		defer mu.Unlock()
		*reported = append(*reported, filepath.Base(path)+": "+err.Error())
	})
	if err != nil {
		t.Fatal(err)
	}
	return openTenant(t, d, parseTenant(t, "acme")), reported
}

// files returns the run files of a directory, oldest first.
func files(t *testing.T, path string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(path, "@acme", "*", "*.pb"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestOrchestratorsThatShareADirectory(t *testing.T) {
	path := t.TempDir()
	one, _ := openDir(t, path, 0)
	other, _ := openDir(t, path, 0)
	saveRuns(t, one, 0, 1)
	if got, err := other.Get(runID(0)); err != nil || !proto.Equal(got, makeRun(0)) {
		t.Errorf("the other reads %v, %v", got, err)
	}
	saveRuns(t, other, 1, 2)
	if ids, _ := listAll(t, one, 9, runs.Filter{}); !slices.Equal(ids, runIDs(1, 0)) {
		t.Errorf("the one lists %q", ids)
	}
}

// Run with -race.
func TestConcurrentTrimsKeepTheLimit(t *testing.T) {
	path := t.TempDir()
	const keep, each, writers = 7, 40, 4
	var group sync.WaitGroup
	for w := range writers {
		store, reported := openDir(t, path, keep)
		group.Go(func() {
			for i := range each {
				if err := store.Save(makeRun(i*writers + w)); err != nil {
					t.Error(err)
				}
				if _, _, err := store.List(t.Context(), keep, "", runs.Filter{}); err != nil {
					t.Error(err)
				}
			}
			if len(*reported) > 0 {
				t.Errorf("reported %q", *reported)
			}
		})
	}
	group.Wait()
	last, _ := openDir(t, path, keep)
	saveRuns(t, last, each*writers, each*writers+1)
	ids, _ := listAll(t, last, 100, runs.Filter{})
	var want []string
	for i := range keep {
		want = append(want, runID(each*writers-i))
	}
	if !slices.Equal(ids, want) {
		t.Errorf("kept %q, want %q", ids, want)
	}
	if days, err := os.ReadDir(filepath.Join(path, "@acme")); err != nil || len(days) > keep {
		t.Errorf("%d days are left of %d runs: %v", len(days), keep, err)
	}
}

func TestPartialFilesAreRemovedWithTheirDay(t *testing.T) {
	path := t.TempDir()
	store, _ := openDir(t, path, 1)
	saveRuns(t, store, 0, 1)
	half := filepath.Join(filepath.Dir(files(t, path)[0]), "."+runID(0)+".pb.part-1")
	write(t, half, []byte("half"))
	if err := os.Chtimes(half, time.Now(), time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if ids, _ := listAll(t, store, 9, runs.Filter{}); len(ids) != 1 {
		t.Errorf("it is listed: %q", ids)
	}
	saveRuns(t, store, 10, 11)
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is there when its day is not: %v", err)
	}
}

func TestDamagedFilesAreSkippedAndReported(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, path string)
		says   string
	}{
		{"a byte that changed", func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data[len(data)/2] ^= 4
			write(t, path, data)
		}, "its checksum is"},
		{"one that was cut", func(t *testing.T, path string) {
			if err := os.Truncate(path, 100); err != nil {
				t.Fatal(err)
			}
		}, "does not end in a checksum"},
		{"an empty one", func(t *testing.T, path string) { write(t, path, nil) }, "it has 0 bytes"},
		{"that of another run", func(t *testing.T, path string) {
			data, err := os.ReadFile(files(t, filepath.Dir(filepath.Dir(filepath.Dir(path))))[0])
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, data)
		}, "it is that of"},
		{"a folder in its place", func(t *testing.T, path string) {
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, "is a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := t.TempDir()
			store, reported := openDir(t, path, 0)
			saveRuns(t, store, 0, 3)
			c.damage(t, files(t, path)[1])
			for range 2 {
				if ids, _ := listAll(t, store, 9, runs.Filter{}); !slices.Equal(ids, runIDs(2, 0)) {
					t.Errorf("listed %q", ids)
				}
			}
			if _, err := store.Get(runID(1)); err == nil || errors.Is(err, runs.ErrNotFound) {
				t.Errorf("it is read as %v", err)
			}
			if len(*reported) != 1 || !strings.Contains((*reported)[0], c.says) || !strings.Contains((*reported)[0],
				runID(1)) {
				t.Errorf("reported %q, want one that says %q", *reported, c.says)
			}
		})
	}
}

func TestOtherFilesAreNotTouched(t *testing.T) {
	path := t.TempDir()
	store, reported := openDir(t, path, 1)
	saveRuns(t, store, 0, 1)
	day := filepath.Dir(files(t, path)[0])
	others := []string{
		filepath.Join(day, "notes.txt"), filepath.Join(day, "x.pb"), filepath.Join(path, "@acme", "README"),
		filepath.Join(path, "@acme", "2020-01-01"), filepath.Join(day, runID(50)+".pb"), // of another day
	}
	for _, o := range others {
		write(t, o, []byte("x"))
	}
	saveRuns(t, store, 10, 11)
	if ids, _ := listAll(t, store, 9, runs.Filter{}); !slices.Equal(ids, runIDs(10)) || len(*reported) > 0 {
		t.Errorf("listed %q, reported %q", ids, *reported)
	}
	for _, o := range others {
		if _, err := os.Stat(o); err != nil {
			t.Error(err)
		}
	}
}

func TestDirectoriesThatCannotBeOpened(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, path string)
		says    string
	}{
		{"one of a later format", func(t *testing.T, path string) {
			write(t, filepath.Join(path, "format"), []byte("2\n"))
		}, `format "2"`},
		{"a file", func(t *testing.T, path string) { write(t, path, nil) }, "not a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runs")
			c.prepare(t, path)
			if _, err := runs.OpenDir(path, 0, nil); err == nil || !strings.Contains(err.Error(), path) ||
				!strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want it to name the directory and %q", err, c.says)
			}
		})
	}
}

func TestRunFilesArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs")
	store, _ := openDir(t, path, 0)
	saveRuns(t, store, 0, 1)
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		info, err2 := entry.Info()
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", name, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// No id reads another tenant's run.
func FuzzIDsStayWithinTheirTenant(f *testing.F) {
	path := f.TempDir()
	d, err := runs.OpenDir(path, 0, nil)
	if err != nil {
		f.Fatal(err)
	}
	saveRuns(f, openTenant(f, d, parseTenant(f, "globex")), 0, 3)
	store := openTenant(f, d, auth.DefaultTenant())
	random := rand.New(rand.NewPCG(1, 2))
	for _, seed := range []string{"", "..", "../@globex/2026-11-01/" + runID(0), runID(0),
		runID(random.IntN(100)), "8" + runID(0)[1:]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if run, err := store.Get(id); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("read %v, %v", run, err)
		}
		if page, _, err := store.List(t.Context(), 5, id, runs.Filter{}); err != nil || len(page) > 0 {
			t.Errorf("listed %v, %v", page, err)
		}
	})
}
