package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/triplemesh/triplemesh/internal/auth"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// dirFormat is written to the file "format"; a directory of a later format is rejected.
const dirFormat = "1"

// Dir stores each run as a file, @TENANT/DAY/ID.pb, in a directory that several orchestrators may
// share: files are written atomically and never changed, names sort by time, and removing a file
// twice is no error. A saved run is visible to the others as soon as the file system shows it.
type Dir struct {
	path   string
	keep   int
	report func(path string, err error)
	// reportOnce reports a file that cannot be read.
	reportOnce func(path string, err error)

	mu        sync.Mutex
	untrimmed map[string]int // runs put since the last trim, by the tenant's path
}

// OpenDir opens or creates the directory. It keeps the newest keep runs of each tenant, within one
// percent for each orchestrator that shares the directory; 0 keeps all. report is called for files
// that cannot be removed or, once each, read; it may be nil.
func OpenDir(path string, keep int, report func(path string, err error)) (*Dir, error) {
	if report == nil {
		report = func(string, error) {}
	}
	if err := PrepareDir(path, dirFormat); err != nil {
		return nil, fmt.Errorf("open run directory %s: %w", path, err)
	}
	return &Dir{path: path, keep: keep, report: report, reportOnce: ReportOnce(report),
		untrimmed: map[string]int{}}, nil
}

// Close implements Tenants; it does nothing.
func (d *Dir) Close() error { return nil }

// Tenant implements Tenants.
func (d *Dir) Tenant(id auth.Tenant) (Store, error) {
	if id.IsZero() {
		return nil, auth.ErrNoTenant
	}
	return folder{d, Folder[*orchestratorv1.Run]{Path: filepath.Join(d.path, "@"+id.String()), DayOf: DayOfRun,
		Report: d.reportOnce}}, nil
}

// folder is the directory of one tenant.
type folder struct {
	dir *Dir
	Folder[*orchestratorv1.Run]
}

func (f folder) Save(all ...*orchestratorv1.Run) error {
	var errs []error
	for _, run := range all {
		if err := f.Write(run.GetId(), run); err != nil {
			errs = append(errs, fmt.Errorf("keep run %s: %w", run.GetId(), err))
		} else if err := f.trim(); err != nil { // the run is kept all the same
			f.dir.report(f.Path, fmt.Errorf("remove the oldest runs: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (f folder) Get(id string) (*orchestratorv1.Run, error) {
	run, err := f.Read(id, decodeFull)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	return run, nil
}

// List implements Store. It skips files that cannot be read.
func (f folder) List(ctx context.Context, size int, before string,
	filter Filter) ([]*orchestratorv1.Run, string, error) {
	g := pageBuilder{size: size, filter: filter}
	if err := f.Walk(ctx, before, "", decodeOutline, g.add); err != nil {
		return nil, "", fmt.Errorf("list runs: %w", err)
	}
	return g.page, g.next, nil
}

// trim removes the oldest runs beyond the limit. It reads names only, after every keep/100 saves.
//
// Orchestrators that share the directory may trim it concurrently. Each removes only runs with at
// least keep newer ones, so that together they never remove too many. A file that another removed
// first counts as removed.
func (f folder) trim() error {
	if f.dir.keep == 0 || !f.due() {
		return nil
	}
	days, err := f.Days()
	if err != nil {
		return err
	}
	left := f.dir.keep
	for _, day := range slices.Backward(days) {
		ids, err := f.IDs(day)
		if err != nil {
			return err
		}
		if left > 0 && len(ids) <= left {
			left -= len(ids)
			continue
		}
		for _, id := range ids[:len(ids)-left] {
			if err := remove(filepath.Join(f.Path, day, id+recordSuffix)); err != nil {
				return err
			}
		}
		if left == 0 {
			f.removeDay(day)
		}
		left = 0
	}
	return nil
}

// due reports whether it is time to trim, and restarts the count.
func (f folder) due() bool {
	f.dir.mu.Lock()
	defer f.dir.mu.Unlock()
	n, begun := f.dir.untrimmed[f.Path]
	n++
	if begun && n < max(1, f.dir.keep/100) {
		f.dir.untrimmed[f.Path] = n
		return false
	}
	f.dir.untrimmed[f.Path] = 0
	return true
}

// half is the maximum age of a file that is still being written.
const half = time.Hour

// removeDay removes an empty day, with the partial files of killed processes. If another
// orchestrator is about to save a run there, the directory stays.
func (f folder) removeDay(day string) {
	path := filepath.Join(f.Path, day)
	entries, _ := os.ReadDir(path)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") || !strings.Contains(entry.Name(), recordSuffix+".part-") {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > half {
			_ = remove(filepath.Join(path, entry.Name()))
		}
	}
	_ = os.Remove(path)
}

// remove removes a file; a missing file is no error.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Locked reports whether another process has the database file open.
func Locked(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: 100 * time.Millisecond, ReadOnly: true})
	if err == nil {
		_ = db.Close()
	}
	return errors.Is(err, bolterrors.ErrTimeout)
}
