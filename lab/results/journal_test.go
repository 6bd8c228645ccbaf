package results

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/lab/dataset"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func testManifest() Manifest {
	return Manifest{
		Format: Format, Version: "v1", Dataset: Dataset{Name: "q", Path: "q.jsonl", Format: "jsonl", SHA256: "abc",
			Questions: 9}, Asked: 4,
		KG: "wikidata", Method: "pg-akv", Seed: 1,
	}
}

func mustOpen(t *testing.T, dir string) *Journal {
	t.Helper()
	j, err := Resume(dir, testManifest())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func mustAdd(t *testing.T, j *Journal, id string, err error) {
	t.Helper()
	if err := j.Add(NewLine(dataset.Question{ID: id, Question: "q <&>?", Answers: []string{"Paris"}}, nil,
		answer("Paris"), err)); err != nil {
		t.Fatal(err)
	}
}

func settle(j *Journal, snapshot uint64) error {
	m := j.Manifest()
	m.Snapshot = snapshot
	return j.Settle(m)
}

func answer(answers ...string) *orchestratorv1.Run {
	run := &orchestratorv1.Run{}
	for _, a := range answers {
		run.Answers = append(run.Answers, &orchestratorv1.Answer{Answer: a})
	}
	return run
}

func runsFile(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, runsName))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestJournalReadsBackWhatItWrote(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "results")
	j := mustOpen(t, dir)
	mustAdd(t, j, "1", nil)
	mustAdd(t, j, "2", status.Error(codes.Internal, "broken"))
	if err := settle(j, 7); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if text := runsFile(t, dir); strings.Count(text, "\n") != 2 || !strings.Contains(text, `"question":"q <&>?"`) {
		t.Errorf("the file is not one readable line a question:\n%s", text)
	}

	j = mustOpen(t, dir)
	defer j.Close()
	if !j.IsAnswered("1") || j.records["1"].Measures.Scores.Hit != 1 {
		t.Errorf("question 1 came back as %+v", j.records["1"])
	}
	if got := j.records["2"].Failure; j.IsAnswered("2") || *got != (Failure{Code: "Internal", Message: "broken"}) {
		t.Errorf("question 2 came back as %+v", got)
	}
	if j.manifest.Snapshot != 7 {
		t.Errorf("the snapshot came back as %d", j.manifest.Snapshot)
	}
}

func TestJournalDropsALastLineThatWasCut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	mustAdd(t, j, "1", nil)
	mustAdd(t, j, "2", nil)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	whole := runsFile(t, dir)
	first := whole[:strings.Index(whole, "\n")+1]
	for cut := len(first); cut < len(whole); cut += 7 {
		if err := os.WriteFile(filepath.Join(dir, runsName), []byte(whole[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		j := mustOpen(t, dir)
		if !j.IsAnswered("1") || j.IsAnswered("2") {
			t.Fatalf("cut at byte %d of %d: records %v", cut, len(whole), j.records)
		}
		mustAdd(t, j, "2", nil)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if got := runsFile(t, dir); strings.Count(got, "\n") != 2 || !strings.HasPrefix(got, first) {
			t.Fatalf("cut at byte %d: the file became\n%s", cut, got)
		}
	}
}

func TestJournalLetsTheLastLineOnAQuestionCount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	mustAdd(t, j, "1", status.Error(codes.Unavailable, "down"))
	mustAdd(t, j, "1", nil)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = mustOpen(t, dir)
	defer j.Close()
	if len(j.records) != 1 || !j.IsAnswered("1") {
		t.Errorf("got %v", j.records)
	}
}

func TestJournalRefusesAFileThatIsNoResults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"a bad line before the last", "{\"id\": \"1\"\n{}\n", "line 1 is no result"},
		{"a line with no id", `{"measures": {}}` + "\n", "line 1 is no result: it needs an id"},
		{"a line with neither measures nor failure", `{"id": "1"}` + "\n", "line 1 is no result"},
		{"a line with both", `{"id": "1", "measures": {}, "failure": {}}` + "\n", "line 1 is no result"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, runsName), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Resume(dir, testManifest())
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(),
				"remove the line") {
				t.Errorf("error %v, want %q and what to do", err, c.want)
			}
			if got := runsFile(t, dir); got != c.text {
				t.Errorf("the file was changed to %q", got)
			}
		})
	}
}

func TestJournalIsForOneProcessAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	if _, err := Resume(dir, testManifest()); err == nil || !strings.Contains(err.Error(),
		"in use by another evaluation") {
		t.Errorf("a second one opened with error %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
}

// fullDisk takes half a line and then has no room left.
type fullDisk struct{ *os.File }

func (d fullDisk) Write(p []byte) (int, error) {
	n, err := d.File.Write(p[:len(p)/2])
	if err == nil {
		err = &os.PathError{Op: "write", Path: d.Name(), Err: syscall.ENOSPC}
	}
	return n, err
}

func fillDisk(t *testing.T, j *Journal) {
	t.Helper()
	file, ok := j.file.(*os.File)
	if !ok {
		t.Fatalf("the journal writes to a %T", j.file)
	}
	j.file = fullDisk{file}
}

func TestJournalWritesAWholeLineOrNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	mustAdd(t, j, "1", nil)
	before := runsFile(t, dir)
	fillDisk(t, j)
	err := j.Add(NewLine(dataset.Question{ID: "2"}, nil, answer("Paris"), nil))
	if err == nil || !strings.Contains(err.Error(), "no space left on device") || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v does not say that %s is full", err, dir)
	}
	if j.IsAnswered("2") {
		t.Error("a question that was not written counts as answered")
	}
	if got := runsFile(t, dir); got != before {
		t.Errorf("half a line stayed in the file:\n%s", got)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestJournalWithoutDirectoryWritesNothing(t *testing.T) {
	t.Parallel()
	j, err := Resume("", testManifest())
	if err != nil {
		t.Fatal(err)
	}
	mustAdd(t, j, "1", nil)
	if err := settle(j, 3); err != nil || !j.IsAnswered("1") || j.manifest.Snapshot != 3 {
		t.Errorf("error %v, journal %+v", err, j)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func FuzzJournalRead(f *testing.F) {
	f.Add(`{"id":"1","measures":{"scores":{"hit":1}}}` + "\n" + `{"id":"2","fail`)
	f.Add(`{"id":"1","failure":{"code":"Internal"}}` + "\n\x00\x00")
	f.Fuzz(func(t *testing.T, text string) {
		j := &Journal{records: make(map[string]Record)}
		if err := j.load(strings.NewReader(text)); err != nil {
			return
		}
		whole := text[:j.size]
		if whole != "" && !strings.HasSuffix(whole, "\n") || strings.Contains(text[j.size:], "\n") {
			t.Fatalf("%q was taken as the whole lines of %q", whole, text)
		}
	})
}
