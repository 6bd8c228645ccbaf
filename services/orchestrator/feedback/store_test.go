package feedback_test

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
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/feedback"
)

const (
	right   = orchestratorv1.Judgement_JUDGEMENT_RIGHT
	wrong   = orchestratorv1.Judgement_JUDGEMENT_WRONG
	missing = orchestratorv1.Judgement_JUDGEMENT_MISSING
)

// runID returns the id of the nth run: seven hours after the one before, so that some share a day.
func runID(n int) string {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(time.Date(2026, 11, 1, 7*n, 0, 0, 0, time.UTC)))
	return id.String()
}

// answer returns a mark on an answer.
func answer(name string, judgement orchestratorv1.Judgement) *orchestratorv1.Mark {
	return &orchestratorv1.Mark{Judgement: judgement,
		Item: &orchestratorv1.Mark_Answer{Answer: &orchestratorv1.MarkedAnswer{Answer: name}}}
}

// mark returns a caller's feedback on the nth run.
func mark(n int, subject string, m *orchestratorv1.Mark) *orchestratorv1.Feedback {
	return &orchestratorv1.Feedback{
		Id: feedback.ID(runID(n), subject, m), RunId: runID(n), Question: "why?", Subject: subject, Mark: m,
		Kg:       &graphv1.KnowledgeGraphRef{Name: []string{"wikidata", "films"}[n%2], Snapshot: 1},
		OtherKgs: []*graphv1.KnowledgeGraphRef{{Name: []string{"rivers", "towns", "roads"}[n%3]}},
	}
}

func tenant(t testing.TB, name string) auth.Tenant {
	t.Helper()
	id, err := auth.ParseTenant(name)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func open(t testing.TB, path string, limit int, report func(string, error)) *feedback.Store {
	t.Helper()
	if report == nil {
		report = func(path string, err error) { t.Errorf("%s: %v", path, err) }
	}
	dir, err := feedback.Open(path, limit, report)
	if err != nil {
		t.Fatal(err)
	}
	store, err := dir.Tenant(tenant(t, "acme"))
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func save(t testing.TB, store *feedback.Store, marks ...*orchestratorv1.Feedback) {
	t.Helper()
	if err := store.Save(marks...); err != nil {
		t.Fatal(err)
	}
}

// list pages through all marks and describes each by run, caller, item and judgement.
func list(t testing.TB, store *feedback.Store, size int, filter feedback.Filter) []string {
	t.Helper()
	var all []string
	for token := ""; ; {
		page, next, err := store.List(t.Context(), size, token, filter)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > size {
			t.Fatalf("a page of %d has %d marks", size, len(page))
		}
		for _, m := range page {
			all = append(all, describe(m))
		}
		if next == "" {
			return all
		}
		token = next
	}
}

func describe(m *orchestratorv1.Feedback) string {
	n := 0
	for runID(n) != m.GetRunId() {
		n++
	}
	return fmt.Sprintf("%d %s %s %s", n, m.GetSubject(), m.GetMark().GetAnswer().GetAnswer(),
		strings.ToLower(strings.TrimPrefix(m.GetMark().GetJudgement().String(), "JUDGEMENT_")))
}

func sortIDs(list []string) []string {
	slices.Sort(list)
	return list
}

func TestMarksComeBackAsTheyWere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new folder", "feedback")
	want := mark(0, "ana", answer("Paris", right))
	save(t, open(t, path, 0, nil), want)
	store := open(t, path, 0, nil)
	if got, err := store.Get(want.GetId()); err != nil || !proto.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	if page, next, err := store.List(t.Context(), 5, "", feedback.Filter{}); err != nil || next != "" ||
		len(page) != 1 || !proto.Equal(page[0], want) {
		t.Errorf("listed %v, %q, %v", page, next, err)
	}
}

func TestLaterMarkOfACallerReplacesTheEarlierOnTheSameItem(t *testing.T) {
	store := open(t, t.TempDir(), 0, nil)
	save(t, store, mark(0, "ana", answer("Paris", right)), mark(0, "ana", answer("Lyon", wrong)),
		mark(0, "ben", answer("Paris", right)), mark(1, "ana", answer("Paris", right)))
	save(t, store, mark(0, "ana", answer("  PARIS ", wrong)), mark(0, "ana", answer("Lyon", missing)))
	want := []string{"0 ana   PARIS  wrong", "0 ana Lyon missing", "0 ben Paris right", "1 ana Paris right"}
	if got := sortIDs(list(t, store, 10, feedback.Filter{})); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestItemsAreTheSameByIDOrByName(t *testing.T) {
	triple := func(subject, subjectID, object string) *orchestratorv1.Mark {
		return &orchestratorv1.Mark{Item: &orchestratorv1.Mark_Triple{Triple: &graphv1.Triple{Subject: subject,
			SubjectId: subjectID, Relation: "capital", Object: object}}}
	}
	withID := func(name, id string) *orchestratorv1.Mark {
		m := answer(name, right)
		m.GetAnswer().Id = id
		return m
	}
	for _, c := range []struct {
		name string
		a, b *orchestratorv1.Mark
		same bool
	}{
		{"one name", answer("Paris", right), answer("paris", wrong), true},
		{"two names of one id", withID("Paris", "Q90"), withID("City of Paris", "Q90"), true},
		{"one name of two ids", withID("Paris", "Q90"), withID("Paris", "Q830149"), false},
		{"a number and its negative", answer("5", right), answer("-5", right), false},
		{"a triple", triple("France", "", "Paris"), triple("france", "", "PARIS"), true},
		{"a triple with another object", triple("France", "", "Paris"), triple("France", "", "Lyon"), false},
		{"a triple of one id", triple("France", "Q142", "Paris"), triple("Gaul", "Q142", "Paris"), true},
		{"a triple and an answer", triple("France", "", "Paris"), answer("Paris", right), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if same := feedback.ID(runID(0), "ana", c.a) == feedback.ID(runID(0), "ana", c.b); same != c.same {
				t.Errorf("the same is %v, want %v", same, c.same)
			}
		})
	}
}

func TestListIsFilteredAndPaged(t *testing.T) {
	store := open(t, t.TempDir(), 0, nil)
	if got := list(t, store, 5, feedback.Filter{}); got != nil {
		t.Errorf("without feedback it lists %q", got)
	}
	for n := range 6 {
		save(t, store, mark(n, "ana", answer("A", right)), mark(n, "ben", answer("A", wrong)))
	}
	ana, nobody := "ana", ""
	for _, c := range []struct {
		name   string
		filter feedback.Filter
		want   []string
	}{
		{"one run", feedback.Filter{Run: runID(2)}, []string{"2 ana A right", "2 ben A wrong"}},
		{"a run without feedback", feedback.Filter{Run: runID(9)}, nil},
		{"no run's id", feedback.Filter{Run: "../2026-11-01"}, nil},
		{"the beginning of a run's id", feedback.Filter{Run: runID(2)[:20]}, nil},
		{"a knowledge graph", feedback.Filter{KG: "films", Subject: &ana}, []string{"1 ana A right", "3 ana A right",
			"5 ana A right"}},
		{"a knowledge graph read beside another", feedback.Filter{KG: "roads", Subject: &ana}, []string{"2 ana A right",
			"5 ana A right"}},
		{"a caller without feedback", feedback.Filter{Subject: &nobody}, nil},
	} {
		for _, size := range []int{1, 2, 5, 100} {
			t.Run(fmt.Sprintf("%s in pages of %d", c.name, size), func(t *testing.T) {
				if got := sortIDs(list(t, store, size, c.filter)); !slices.Equal(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		}
	}
	all := list(t, store, 5, feedback.Filter{})
	if len(all) != 12 || !slices.IsSortedFunc(all, func(a, b string) int { return strings.Compare(b[:1], a[:1]) }) {
		t.Errorf("it lists %q, want all, of the newest run first", all)
	}
}

func TestDeletedMarksAreGone(t *testing.T) {
	path := t.TempDir()
	store := open(t, path, 0, nil)
	m := mark(0, "ana", answer("A", right))
	save(t, store, m, mark(0, "ben", answer("A", right)))
	if err := store.Delete(m.GetId()); err != nil {
		t.Fatal(err)
	}
	if err := store.Delete(m.GetId()); !errors.Is(err, feedback.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := store.Get(m.GetId()); !errors.Is(err, feedback.ErrNotFound) {
		t.Errorf("read after its end: %v", err)
	}
	if got := list(t, store, 5, feedback.Filter{}); !slices.Equal(got, []string{"0 ben A right"}) {
		t.Errorf("left are %q", got)
	}
}

func TestTenantStoresNoMoreThanItMay(t *testing.T) {
	path := t.TempDir()
	one, other := open(t, path, 3, nil), open(t, path, 3, nil)
	save(t, one, mark(0, "ana", answer("A", right)), mark(0, "ana", answer("B", right)))
	if err := one.Save(mark(1, "ana", answer("A", right)), mark(1, "ana", answer("B", right))); !errors.Is(err,
		feedback.ErrFull) {
		t.Errorf("the third and fourth of three: %v", err)
	}
	save(t, other, mark(1, "ana", answer("A", right)))
	if err := one.Save(mark(1, "ana", answer("B", right))); !errors.Is(err, feedback.ErrFull) {
		t.Errorf("the fourth of three, the third by another orchestrator: %v", err)
	}
	save(t, one, mark(0, "ana", answer("A", wrong))) // in the place of another
	if err := other.Delete(mark(0, "ana", answer("B", right)).GetId()); err != nil {
		t.Fatal(err)
	}
	save(t, one, mark(1, "ana", answer("B", right)))
	if got := list(t, one, 9, feedback.Filter{}); len(got) != 3 {
		t.Errorf("stored %q", got)
	}
}

func TestTenantsAreApart(t *testing.T) {
	dir, err := feedback.Open(t.TempDir(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := mark(0, "ana", answer("A", right))
	acme, _ := dir.Tenant(tenant(t, "acme"))
	globex, _ := dir.Tenant(tenant(t, "globex"))
	save(t, acme, m)
	if _, err := globex.Get(m.GetId()); !errors.Is(err, feedback.ErrNotFound) {
		t.Errorf("another tenant reads it: %v", err)
	}
	if err := globex.Delete(m.GetId()); !errors.Is(err, feedback.ErrNotFound) {
		t.Errorf("another tenant deletes it: %v", err)
	}
	if got := list(t, globex, 9, feedback.Filter{}); got != nil {
		t.Errorf("another tenant lists %q", got)
	}
	if _, err := dir.Tenant(auth.Tenant{}); !errors.Is(err, auth.ErrNoTenant) {
		t.Errorf("no tenant gets a store: %v", err)
	}
}

func TestDamagedFilesAreReportedOnceAndSkipped(t *testing.T) {
	var mu sync.Mutex
	var reported []string
	path := t.TempDir()
	store := open(t, path, 0, func(path string, err error) {
		mu.Lock()
		defer mu.Unlock()
		reported = append(reported, filepath.Base(path)+": "+err.Error())
	})
	bad := mark(0, "ana", answer("A", right))
	save(t, store, bad, mark(1, "ana", answer("A", right)))
	files, err := filepath.Glob(filepath.Join(path, "@acme", "*", bad.GetId()+".pb"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q, %v", files, err)
	}
	if err := os.Truncate(files[0], 30); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := list(t, store, 9, feedback.Filter{}); !slices.Equal(got, []string{"1 ana A right"}) {
			t.Errorf("listed %q", got)
		}
	}
	if _, err := store.Get(bad.GetId()); !errors.Is(err, feedback.ErrDamaged) {
		t.Errorf("read as %v", err)
	}
	if len(reported) != 1 || !strings.Contains(reported[0], bad.GetId()) {
		t.Errorf("reported %q", reported)
	}
}

func TestFilesArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feedback")
	save(t, open(t, path, 0, nil), mark(0, "ana", answer("A", right)))
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

func TestDirectoryOfALaterFormatIsRejected(t *testing.T) {
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "format"), []byte("2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := feedback.Open(path, 0, nil); err == nil || !strings.Contains(err.Error(), `format "2"`) {
		t.Errorf("got %v", err)
	}
}

func TestListEndsWithItsContext(t *testing.T) {
	store := open(t, t.TempDir(), 0, nil)
	save(t, store, mark(0, "ana", answer("A", right)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if page, _, err := store.List(ctx, 2, "", feedback.Filter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", page, err)
	}
}

// Run with -race.
func TestOrchestratorsShareADirectory(t *testing.T) {
	path := t.TempDir()
	var group sync.WaitGroup
	for i := range 4 {
		store := open(t, path, 1000, nil)
		group.Go(func() {
			for n := range 20 {
				m := mark(n, fmt.Sprint("caller", i), answer("A", right))
				if err := store.Save(m); err != nil {
					t.Error(err)
				}
				if n%2 == 0 {
					if err := store.Delete(m.GetId()); err != nil {
						t.Error(err)
					}
				}
				if _, _, err := store.List(t.Context(), 5, "", feedback.Filter{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := list(t, open(t, path, 1000, nil), 7, feedback.Filter{}); len(got) != 40 {
		t.Errorf("%d marks are left of 40: %q", len(got), got)
	}
}

// No id reads another tenant's feedback or any other file.
func FuzzIDsStayWithinTheirTenant(f *testing.F) {
	dir, err := feedback.Open(f.TempDir(), 0, nil)
	if err != nil {
		f.Fatal(err)
	}
	globex, err := dir.Tenant(tenant(f, "globex"))
	if err != nil {
		f.Fatal(err)
	}
	m := mark(0, "ana", answer("A", right))
	save(f, globex, m)
	store, err := dir.Tenant(auth.DefaultTenant())
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", "..", "../@globex/2026-11-01/" + m.GetId(), m.GetId(), runID(0) + "-",
		"-" + strings.Repeat("0", 20), "8" + m.GetId()[1:]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if got, err := store.Get(id); !errors.Is(err, feedback.ErrNotFound) {
			t.Errorf("read %v, %v", got, err)
		}
		if err := store.Delete(id); !errors.Is(err, feedback.ErrNotFound) {
			t.Errorf("deleted: %v", err)
		}
		if page, _, err := store.List(t.Context(), 5, id, feedback.Filter{Run: id}); err != nil || len(page) > 0 {
			t.Errorf("listed %v, %v", page, err)
		}
	})
}
