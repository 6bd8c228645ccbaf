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

	"github.com/triplemesh/triplemesh/internal/tenant"
	"github.com/triplemesh/triplemesh/internal/wholefile"
)

// Every is how often counts are written and those of other orchestrators read:
// a crash loses what was counted since, and what another counted is known two
// Everys later at most.
const Every = 2 * time.Second

// stale is the age at which an orchestrator that says nothing any more is
// believed to have no questions under way.
const stale = 5 * Every

// share is the directory of counts. Each start of an orchestrator has a file of
// its own, which nobody else writes: what is read there is what the others
// used, and what this one did before it was started anew.
type share struct {
	dir, name string
	report    func(error)
	stop      chan struct{}
	stopped   sync.WaitGroup

	known map[string]counts // of the others, by file
	told  map[string]bool   // what there is trouble with
}

// counts is the content of a file.
type counts struct {
	// Format is 0 where a build before it wrote the file, which reads alike.
	Format  int              `json:"format,omitempty"`
	Day     string           `json:"day"`
	Written time.Time        `json:"written"`
	Tenants map[string]count `json:"tenants"`
}

const (
	// countsFormat is raised by a change of what a file means.
	countsFormat = 1
	extension    = ".json"
	dayFormat    = time.DateOnly
)

// Open counts by cfg, going on from what the files in dir say of this day.
// Orchestrators that share dir add up. report is told of files that cannot be
// read or written: counting goes on without. An empty dir, and a cfg without
// limits, keeps nothing. Close writes what was counted.
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
		known: map[string]counts{}, told: map[string]bool{},
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

// Close writes what was counted last. No question may be under way.
func (q *Quotas) Close() error {
	if q.shared == nil {
		return nil
	}
	close(q.shared.stop)
	q.shared.stopped.Wait()
	return q.write()
}

// sync writes and reads. Disks are waited for with no lock held.
func (q *Quotas) sync() {
	q.shared.tell(q.shared.name, q.write())
	q.mu.Lock()
	q.tick()
	day := q.day
	q.mu.Unlock()
	others := q.shared.read(day, q.clock.now())
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.day.Equal(day) {
		q.others = others
	}
}

// write writes the own counts where they changed, or where questions are under
// way, so that others know that this orchestrator lives.
func (q *Quotas) write() error {
	q.mu.Lock()
	now := q.tick()
	content := counts{Format: countsFormat, Day: q.day.Format(dayFormat), Written: q.clock.now().Round(0).UTC(), Tenants: map[string]count{}}
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
	_, err := wholefile.Write(filepath.Join(q.shared.dir, q.shared.name), 0o600, func(w io.Writer) error {
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

// read adds up the others' counts of the day, or a later one: a clock that was
// set back grants nothing anew. Files from before yesterday are removed. A file
// that cannot be read counts as it did.
func (s *share) read(today, now time.Time) map[tenant.ID]count {
	day, yesterday, tomorrow := today.Format(dayFormat), today.AddDate(0, 0, -1).Format(dayFormat), today.AddDate(0, 0, 1).Format(dayFormat)
	sum := map[tenant.ID]count{}
	entries, err := os.ReadDir(s.dir)
	s.tell(s.dir, err)
	if err == nil {
		s.readFiles(entries)
	}
	for name, content := range s.known {
		if content.Day < yesterday {
			_ = os.Remove(filepath.Join(s.dir, name))
			continue
		}
		if content.Day > tomorrow {
			s.tell("the day of "+name, fmt.Errorf("the counts of quotas %s are of %s and count until then: if that is far off, a clock was wrong; remove the file", filepath.Join(s.dir, name), content.Day))
		}
		alive := now.Sub(content.Written).Abs() < stale
		for named, c := range content.Tenants {
			id, err := tenant.Parse(named)
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
		if _, err := ulid.ParseStrict(strings.TrimSuffix(name, extension)); err != nil || filepath.Ext(name) != extension || name == s.name {
			continue
		}
		there[name] = true
		content, err := readCounts(filepath.Join(s.dir, name))
		s.tell(name, err)
		if err == nil {
			s.known[name] = content
		}
	}
	for name := range s.known {
		if !there[name] {
			delete(s.known, name)
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
		return counts{}, fmt.Errorf("it is of format %d and this build reads up to %d: what a newer orchestrator lets in is not counted here", content.Format, countsFormat)
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

// tell reports trouble with a file once, until it is over.
func (s *share) tell(name string, err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) && name != s.dir && name != s.name {
		delete(s.told, name)
		return
	}
	if !s.told[name] && s.report != nil {
		s.report(err)
	}
	s.told[name] = true
}
