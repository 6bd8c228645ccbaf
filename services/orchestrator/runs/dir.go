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

	"github.com/oklog/ulid/v2"

	"github.com/triplemesh/triplemesh/internal/tenant"
	"github.com/triplemesh/triplemesh/internal/wholefile"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// dirFormat is written into the directory's file "format"; a directory of a
// later format is refused.
const dirFormat = "1"

// suffix is that of a run's file.
const suffix = ".pb"

// Dir holds runs as one file each, @TENANT/DAY/ID.pb, in a directory that
// several orchestrators may have open at a time: a file is written whole and
// never changed, names sort by time, and what one removes the other does not
// miss. What one keeps the others see at once, as far as the file system shows
// it.
type Dir struct {
	path   string
	keep   int
	report func(path string, err error)

	mu        sync.Mutex
	untrimmed map[string]int  // runs put since the last trim, by the tenant's path
	reported  map[string]bool // files that were told of
}

// OpenDir opens or makes the directory. At most keep runs are kept of each
// tenant, give or take a hundredth of that for each orchestrator that shares
// the directory. keep 0 keeps all. report is told of what cannot be read, once
// of each file, or removed, and is gone on without; it may be nil.
func OpenDir(path string, keep int, report func(path string, err error)) (*Dir, error) {
	if report == nil {
		report = func(string, error) {}
	}
	if err := prepare(path); err != nil {
		return nil, fmt.Errorf("open run directory %s: %w", path, err)
	}
	return &Dir{path: path, keep: keep, report: report, untrimmed: map[string]int{}, reported: map[string]bool{}}, nil
}

func prepare(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	format := filepath.Join(path, "format")
	switch v, err := os.ReadFile(format); {
	case errors.Is(err, fs.ErrNotExist):
		return wholefile.WriteBytes(format, 0o600, []byte(dirFormat+"\n"))
	case err != nil:
		return err
	case strings.TrimSpace(string(v)) != dirFormat:
		return fmt.Errorf("it is of format %q and this build reads %q: use the build that wrote it, or another directory", strings.TrimSpace(string(v)), dirFormat)
	}
	return nil
}

// Close implements Tenants. There is nothing to let go.
func (d *Dir) Close() error { return nil }

// Of implements Tenants.
func (d *Dir) Of(id tenant.ID) (Store, error) {
	if id.IsZero() {
		return nil, tenant.ErrNone
	}
	return folder{d, filepath.Join(d.path, "@"+id.String())}, nil
}

// folder is the directory of one tenant. It is made with the tenant's first
// run.
type folder struct {
	dir  *Dir
	path string
}

// dayOf is the day, in UTC, on which the run of an id began. It is false of what
// is no id, which might name any file.
func dayOf(id string) (string, bool) {
	parsed, err := ulid.ParseStrict(id)
	if err != nil || parsed.String() != id {
		return "", false
	}
	return parsed.Timestamp().UTC().Format(time.DateOnly), true
}

// Put implements Store.
func (f folder) Put(all ...*orchestratorv1.Run) error {
	var errs []error
	for _, run := range all {
		if err := f.put(run); err != nil {
			errs = append(errs, fmt.Errorf("keep run %s: %w", run.GetId(), err))
		} else if err := f.trim(); err != nil { // the run is kept all the same
			f.dir.report(f.path, fmt.Errorf("remove the oldest runs: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (f folder) put(run *orchestratorv1.Run) error {
	day, ok := dayOf(run.GetId())
	if !ok {
		return errors.New("its id is no ULID")
	}
	record, err := encode(run)
	if err != nil {
		return err
	}
	// The directory may be found empty, and removed by another orchestrator,
	// before the file is in it.
	for range 3 {
		if err = os.MkdirAll(filepath.Join(f.path, day), 0o700); err != nil {
			return err
		}
		if err = wholefile.WriteBytes(filepath.Join(f.path, day, run.GetId()+suffix), 0o600, record); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// Get implements Store.
func (f folder) Get(id string) (*orchestratorv1.Run, error) {
	day, ok := dayOf(id)
	if !ok {
		return nil, fmt.Errorf("read run %q: %w", id, ErrNotFound)
	}
	run, err := f.read(day, id, whole)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	return run, nil
}

func (f folder) read(day, id string, as func([]byte) (*orchestratorv1.Run, error)) (*orchestratorv1.Run, error) {
	path := filepath.Join(f.path, day, id+suffix)
	record, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	run, err := decode(record, id, as)
	if err != nil {
		f.dir.tell(path, err)
	}
	return run, err
}

// tell reports a file once.
func (d *Dir) tell(path string, err error) {
	d.mu.Lock()
	told := d.reported[path]
	d.reported[path] = true
	d.mu.Unlock()
	if !told {
		d.report(path, err)
	}
}

// List implements Store. Files that cannot be read are passed over.
func (f folder) List(ctx context.Context, size int, before string, filter Filter) ([]*orchestratorv1.Run, string, error) {
	g := gathering{size: size, filter: filter}
	if err := f.each(ctx, before, g.add); err != nil {
		return nil, "", fmt.Errorf("list runs: %w", err)
	}
	return g.page, g.next, nil
}

// each calls do with the outlines of the runs older than before, newest first, until it returns
// false.
func (f folder) each(ctx context.Context, before string, do func(*orchestratorv1.Run) bool) error {
	days, err := f.days()
	if err != nil {
		return err
	}
	last, bounded := dayOf(before)
	for _, day := range slices.Backward(days) {
		if bounded && day > last {
			continue
		}
		ids, err := f.ids(day)
		if err != nil {
			return err
		}
		for _, id := range slices.Backward(ids) {
			if before != "" && id >= before {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			run, err := f.read(day, id, outline)
			if err == nil && !do(run) {
				return nil
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrDamaged) {
				f.dir.tell(filepath.Join(f.path, day, id+suffix), err)
			}
		}
	}
	return nil
}

// days are the directories of days, oldest first.
func (f folder) days() ([]string, error) {
	return names(f.path, func(entry fs.DirEntry) (string, bool) {
		_, err := time.Parse(time.DateOnly, entry.Name())
		return entry.Name(), err == nil && entry.IsDir()
	})
}

// ids are those of a day's runs, oldest first.
func (f folder) ids(day string) ([]string, error) {
	return names(filepath.Join(f.path, day), func(entry fs.DirEntry) (string, bool) {
		id, isRun := strings.CutSuffix(entry.Name(), suffix)
		of, isID := dayOf(id)
		return id, isRun && isID && of == day
	})
}

// names are those of a directory's entries that take makes something of, in
// order; none where there is no directory.
func names(path string, take func(fs.DirEntry) (string, bool)) ([]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []string
	for _, entry := range entries {
		if name, ok := take(entry); ok {
			all = append(all, name)
		}
	}
	return all, nil
}
