package quota

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// start opens quotas that report no error, until the test ends.
func start(t *testing.T, dir string, cfg Config) *Quotas {
	t.Helper()
	q, err := Open(cfg, dir, func(err error) { t.Errorf("reported: %v", err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, q) })
	return q
}

var stopped sync.Map

func stop(t *testing.T, q *Quotas) {
	t.Helper()
	if _, before := stopped.LoadOrStore(q, true); before {
		return
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}

// questionsUsed returns a tenant's usage of a quota.
func questionsUsed(q *Quotas, name string) float64 {
	for _, s := range q.States(acme) {
		if s.Name == name {
			return s.Used
		}
	}
	return -1
}

func TestCountsSurviveARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "quota")
		cfg := Config{Everyone: {QuestionsPerMinute: 3, QuestionsPerDay: 4, TokensPerDay: 1000}}
		q := start(t, dir, cfg)
		ask(t, q, acme, &llmv1.Usage{PromptTokens: 10, CostUsd: .25})
		ask(t, q, acme, nil)
		stop(t, q)
		for range 2 { // files of several starts add up
			q = start(t, dir, cfg)
			for name, want := range map[string]float64{QuestionsPerMinute: 2, QuestionsPerDay: 2, TokensPerDay: 10,
				CostUSDPerDay: .25, ConcurrentRuns: 0} {
				if got := questionsUsed(q, name); got != want {
					t.Errorf("%s: %v are used, want %v", name, got, want)
				}
			}
			stop(t, q)
		}
		q = start(t, dir, cfg)
		ask(t, q, acme, nil)
		if _, err := q.Begin(acme); err == nil {
			t.Error("a restart let one more in within a minute")
		}
		time.Sleep(62 * time.Second)
		ask(t, q, acme, nil)
		time.Sleep(62 * time.Second)
		if _, err := q.Begin(acme); err == nil {
			t.Error("a restart let one more in on a day")
		}
	})
}

func TestKillLosesAtMostOneInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		cfg := Config{Everyone: {QuestionsPerDay: 100, ConcurrentRuns: 1}}
		killed := start(t, dir, cfg)
		begin(t, killed, acme)
		time.Sleep(Every + time.Millisecond)
		begin(t, killed, globex).Charge(tokens(5)) // what is not written nobody knows
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 1 {
			t.Fatalf("files: %v, %v", files, err)
		}
		close(killed.shared.stop)
		killed.shared.stopped.Wait()
		stopped.Store(killed, true)

		q := start(t, dir, cfg)
		if questionsUsed(q, QuestionsPerDay) != 1 || questionsUsed(q, ConcurrentRuns) != 1 ||
			q.States(globex)[2].Used != 0 {
			t.Errorf("after the kill: %+v, %+v", q.States(acme), q.States(globex))
		}
		if _, err := q.Begin(acme); err == nil {
			t.Error("the killed one's question is not believed to be under way")
		}
		time.Sleep(stale + Every)
		begin(t, q, acme).End()
	})
}

func TestOrchestratorsThatShareADirectoryAddUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		cfg := Config{"acme": {QuestionsPerDay: 10, ConcurrentRuns: 3}}
		one, other := start(t, dir, cfg), start(t, dir, cfg)
		a, b := begin(t, one, acme), begin(t, other, acme)
		time.Sleep(2*Every + time.Millisecond)
		for _, q := range []*Quotas{one, other} {
			if questionsUsed(q, QuestionsPerDay) != 2 || questionsUsed(q, ConcurrentRuns) != 2 ||
				questionsUsed(q, QuestionsPerMinute) != 2 {
				t.Errorf("one of them counts %+v", q.States(acme))
			}
		}
		begin(t, one, acme)
		time.Sleep(2*Every + time.Millisecond)
		if _, err := other.Begin(acme); err == nil {
			t.Error("the other let a fourth in")
		}
		a.End()
		b.End()
		time.Sleep(2*Every + time.Millisecond)
		begin(t, other, acme)
		if got := other.States(globex); got[0].Used != 0 {
			t.Errorf("another tenant has used %+v", got)
		}
	})
}

// Two orchestrators overrun a quota by at most what one admits before it reads the other's counts.
func TestOverrunOfTwoOrchestratorsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		const limit, perSecond = 200, 5
		cfg := Config{Everyone: {QuestionsPerDay: limit}}
		both := []*Quotas{start(t, dir, cfg), start(t, dir, cfg)}
		admitted := 0
		for range 120 * perSecond {
			for _, q := range both {
				if run, err := q.Begin(acme); err == nil {
					run.End()
					admitted++
				}
			}
			time.Sleep(time.Second / perSecond)
		}
		if most := limit + 2*int(Every.Seconds())*perSecond + perSecond; admitted < limit || admitted > most {
			t.Errorf("%d admitted of %d, at most %d bargained for", admitted, limit, most)
		}
	})
}

func TestFilesOfOtherDays(t *testing.T) {
	const (
		one   = "01KAAAAAAAAAAAAAAAAAAAAAA1.json"
		two   = "01KAAAAAAAAAAAAAAAAAAAAAA2.json"
		three = "01KAAAAAAAAAAAAAAAAAAAAAA3.json"
	)
	file := func(day string) string {
		return `{"day":"` + day + `","tenants":{"acme":{"questions":3,"tokens":5},"../x":{"questions":9}}}`
	}
	w := newWall()
	dir := t.TempDir()
	for name, text := range map[string]string{one: file("2026-11-21"), two: file("2026-11-20"),
		three: file("2026-11-19"), "notes.json": file("2020-01-01")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var reported []string
	q, err := open(Config{Everyone: {TokensPerDay: 9}}, dir,
		func(err error) { reported = append(reported, err.Error()) }, w.now)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if questionsUsed(q, QuestionsPerDay) != 3 {
		t.Errorf("counts %+v", q.States(acme))
	}
	for name, there := range map[string]bool{one: true, two: true, three: false, "notes.json": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != there || err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(reported) != 0 {
		t.Errorf("reported %q", reported)
	}
	// The clock was set back before a start: what was used then is used.
	w.pass(-48 * time.Hour)
	reported = nil
	back, err := open(Config{Everyone: {TokensPerDay: 9}}, dir,
		func(err error) { reported = append(reported, err.Error()) }, w.now)
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	if questionsUsed(back, QuestionsPerDay) != 6 {
		t.Errorf("counts %+v", back.States(acme))
	}
	if len(reported) != 1 || !strings.Contains(reported[0], "2026-11-21") {
		t.Errorf("reported %q", reported)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "01KAAAAAAAAAAAAAAAAAAAAAA1.json")
	put := func(text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const good = `{"day":"2026-11-21","tenants":{"acme":{"questions":3}}}`
	put(good)
	w := newWall()
	var reported []string
	q, err := open(Config{Everyone: {TokensPerDay: 9}}, dir,
		func(err error) { reported = append(reported, err.Error()) }, w.now)
	if err != nil {
		t.Fatal(err)
	}
	close(q.shared.stop) // the test looks when it wants to
	q.shared.stopped.Wait()
	for _, text := range []string{"", "{", `{"day":"yesterday"}`,
		`{"day":"2026-11-21","tenants":{"acme":{"cost_usd":-9}}}`, `{"format":2,"day":"2026-11-21","tenants":{}}`} {
		put(good)
		q.sync()
		reported = nil
		put(text)
		q.sync()
		q.sync()
		if questionsUsed(q, QuestionsPerDay) != 3 {
			t.Errorf("with %q it counts %+v", text, q.States(acme))
		}
		if len(reported) != 1 || !strings.Contains(reported[0], name) {
			t.Errorf("of %q it reported %q", text, reported)
		}
	}
	// A directory that is gone, too: nothing is forgotten.
	reported = nil
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	ask(t, q, acme, nil)
	q.sync()
	q.sync()
	if questionsUsed(q, QuestionsPerDay) != 4 || len(reported) != 2 {
		t.Errorf("it counts %+v and reported %q", q.States(acme), reported)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	q.sync()
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("what could not be written was not written later: %v, %v", files, err)
	}
}

func TestNothingIsPersistedWithoutLimits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "quota")
	q := start(t, dir, nil)
	ask(t, q, acme, tokens(5))
	if questionsUsed(q, TokensPerDay) != 5 {
		t.Errorf("counts %+v", q.States(acme))
	}
	stop(t, q)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"day":"2026-11-21","written":"2026-11-21T10:00:00Z",` +
			`"tenants":{"acme":{"questions":3,"recent":[{"at":1,"n":2}]}}}`,
		`{}`, `[]`, `{"day":"2026-13-01"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		content, err := parse(data)
		if err != nil {
			return
		}
		for _, c := range content.Tenants {
			c.inMinute(1_800_000_000, 3)
		}
	})
}
