package quota

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/config"
)

// Every is the interval of writing the counts and reading those of other orchestrators: a crash
// loses the counts since the last write; another orchestrator's counts are at most two intervals
// old.
const Every = 2 * time.Second

// stale is the age at which an orchestrator without heartbeat is assumed to have no running
// questions.
const stale = 5 * Every

// share is the directory of counts. Each process writes one file of its own; the other files are
// the usage of other orchestrators and of its predecessors.
type share struct {
	dir, name string
	report    func(error)
	stop      chan struct{}
	stopped   sync.WaitGroup

	snapshots map[string]counts // of the others, by file
	reported  map[string]bool   // what there is trouble with
}

// counts is the content of a file.
type counts struct {
	// Format is 0 in files of older builds, which have the same fields.
	Format  int              `json:"format,omitempty"`
	Day     string           `json:"day"`
	Written time.Time        `json:"written"`
	Tenants map[string]count `json:"tenants"`
}

const (
	// countsFormat is incremented when the meaning of a file changes.
	countsFormat = 1
	extension    = ".json"
	dayFormat    = time.DateOnly
)

// Open returns Quotas with the day's usage from the files in dir. Orchestrators that share dir add
// up. report is called for files that cannot be read or written; counting continues. An empty dir
// or a cfg without limits persists nothing. Close writes the last counts.
func Open(cfg Config, dir string, report func(error)) (*Quotas, error) {
	return open(cfg, dir, report, time.Now)
}

func open(cfg Config, dir string, report func(error), now func() time.Time) (*Quotas, error) {
	q := newQuotas(cfg, now)
	if dir == "" || len(cfg) == 0 {
		return q, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the counts of quotas: %w", err)
	}
	q.shared = &share{
		dir: dir, name: ulid.Make().String() + extension, report: report, stop: make(chan struct{}),
		snapshots: map[string]counts{}, reported: map[string]bool{},
	}
	q.sync()
	q.shared.stopped.Go(func() {
		ticker := time.NewTicker(Every)
		defer ticker.Stop()
		for {
			select {
			case <-q.shared.stop:
				return
			case <-ticker.C:
				q.sync()
			}
		}
	})
	return q, nil
}

// Close writes the last counts. No question may be in flight.
func (q *Quotas) Close() error {
	if q.shared == nil {
		return nil
	}
	close(q.shared.stop)
	q.shared.stopped.Wait()
	return q.write()
}

// sync writes the counts and reads those of the others; the lock is not held during I/O.
func (q *Quotas) sync() {
	q.shared.reportOnce(q.shared.name, q.write())
	q.mu.Lock()
	q.tick()
	day := q.day
	q.mu.Unlock()
	others := q.shared.readOthers(day, q.clock.now())
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.day.Equal(day) {
		q.others = others
	}
}

// write writes the process's counts if they changed, or as a heartbeat while questions run.
func (q *Quotas) write() error {
	q.mu.Lock()
	now := q.tick()
	content := counts{Format: countsFormat, Day: q.day.Format(dayFormat), Written: q.clock.now().Round(0).UTC(),
		Tenants: map[string]count{}}
	write := q.dirty && len(q.own) > 0
	for id, c := range q.own {
		c.forget(now)
		copied := *c
		copied.Recent = append([]second(nil), c.Recent...)
		content.Tenants[id.String()] = copied
		write = write || c.Running > 0
	}
	q.dirty = false
	q.mu.Unlock()
	if !write {
		return nil
	}
	_, err := config.ReplaceFileFunc(filepath.Join(q.shared.dir, q.shared.name), 0o600, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(content)
	})
	if err != nil {
		q.mu.Lock()
		q.dirty = true
		q.mu.Unlock()
		return fmt.Errorf("write the counts of quotas: %w", err)
	}
	return nil
}

// readOthers sums the other files' counts of today or later (setting a clock back grants no quota
// again). It removes files from before yesterday. A file that cannot be read keeps its last counts.
func (s *share) readOthers(today, now time.Time) map[auth.Tenant]count {
	day, yesterday, tomorrow := today.Format(dayFormat), today.AddDate(0, 0, -1).Format(dayFormat),
		today.AddDate(0, 0, 1).Format(dayFormat)
	sum := map[auth.Tenant]count{}
	entries, err := os.ReadDir(s.dir)
	s.reportOnce(s.dir, err)
	if err == nil {
		s.readFiles(entries)
	}
	for name, content := range s.snapshots {
		if content.Day < yesterday {
			_ = os.Remove(filepath.Join(s.dir, name))
			continue
		}
		if content.Day > tomorrow {
			s.reportOnce("the day of "+name,
				fmt.Errorf("the counts of quotas %s are of %s and count until then: if that is far off, a clock was "+
					"wrong; remove the file", filepath.Join(s.dir, name), content.Day))
		}
		alive := now.Sub(content.Written).Abs() < stale
		for named, c := range content.Tenants {
			id, err := auth.ParseTenant(named)
			if err != nil {
				continue
			}
			if content.Day < day {
				c.newDay()
			}
			if !alive {
				c.Running = 0
			}
			all := sum[id]
			all.add(c)
			sum[id] = all
		}
	}
	return sum
}

func (s *share) readFiles(entries []fs.DirEntry) {
	there := map[string]bool{}
	for _, entry := range entries {
		name := entry.Name()
		if _, err := ulid.ParseStrict(strings.TrimSuffix(name, extension)); err != nil ||
			filepath.Ext(name) != extension || name == s.name {
			continue
		}
		there[name] = true
		content, err := readCounts(filepath.Join(s.dir, name))
		s.reportOnce(name, err)
		if err == nil {
			s.snapshots[name] = content
		}
	}
	for name := range s.snapshots {
		if !there[name] {
			delete(s.snapshots, name)
		}
	}
}

func readCounts(path string) (counts, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return counts{}, fmt.Errorf("read the counts of quotas: %w", err)
	}
	content, err := parse(data)
	if err != nil {
		return counts{}, fmt.Errorf("read the counts of quotas %s: %w", path, err)
	}
	return content, nil
}

// parse reads a file of counts.
func parse(data []byte) (counts, error) {
	var content counts
	if err := json.Unmarshal(data, &content); err != nil {
		return counts{}, err
	}
	if content.Format > countsFormat {
		return counts{}, fmt.Errorf("it is of format %d and this build reads up to %d: what a newer orchestrator "+
			"lets in is not counted here", content.Format, countsFormat)
	}
	if _, err := time.Parse(dayFormat, content.Day); err != nil {
		return counts{}, fmt.Errorf("its day is %q", content.Day)
	}
	for name, c := range content.Tenants {
		if c.CostUSD < 0 {
			return counts{}, fmt.Errorf("%s spent %v US dollars", name, c.CostUSD)
		}
	}
	return content, nil
}

// reportOnce reports a failing file once until it recovers.
func (s *share) reportOnce(name string, err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) && name != s.dir && name != s.name {
		delete(s.reported, name)
		return
	}
	if !s.reported[name] && s.report != nil {
		s.report(err)
	}
	s.reported[name] = true
}
