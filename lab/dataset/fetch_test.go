package dataset

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/download"
	"github.com/triplemesh/triplemesh/internal/terminal"
)

// author is a server of one file.
type author struct {
	*httptest.Server

	mu sync.Mutex
	// content is what it serves, status the answer in its place, cut the number of bytes after which it
	// breaks off, for so many requests.
	content  []byte
	status   int
	cut      int
	cuts     int
	after    int // the status once it broke off that often
	noRanges bool
	ranges   []string // of the requests
}

func newAuthor(t *testing.T, content []byte) *author {
	a := &author{content: content}
	a.Server = httptest.NewServer(http.HandlerFunc(a.serve))
	t.Cleanup(a.Close)
	return a
}

func (a *author) serve(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ranges = append(a.ranges, r.Header.Get("Range"))
	if a.status != 0 {
		w.WriteHeader(a.status)
		return
	}
	if a.noRanges {
		r.Header.Del("Range")
	}
	w.Header().Set("ETag", `"`+sum(a.content)[:8]+`"`)
	if a.cuts > 0 {
		a.cuts--
		from := 0
		if text := strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-"); text != "" {
			from, _ = strconv.Atoi(text)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(a.content)-1, len(a.content)))
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(a.content)-from))
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(a.content[from:min(len(a.content), from+a.cut)])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	if a.after != 0 {
		w.WriteHeader(a.after)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.content))
}

func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

func newFetcher(dir string) *fetcher {
	return &fetcher{Dir: dir, Board: terminal.NewBoard(terminal.Detect(io.Discard, nil)), pause: time.Millisecond,
		Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

func (a *author) set(sha string) publishedSet {
	return publishedSet{Name: "rivers", Files: []publishedFile{{
		Name: "q.jsonl", URL: a.URL + "/q.jsonl", SHA256: sha, Format: "jsonl",
	}}}
}

var rivers = bytes.Repeat([]byte(`{"id": "1", "question": "where does the Tessen end?", "answers": ["Vell"]}`+"\n"),
	400)

func TestAPinnedFileIsFetchedOnce(t *testing.T) {
	t.Parallel()
	a, dir := newAuthor(t, rivers), t.TempDir()
	for round := range 2 {
		got, err := newFetcher(dir).Fetch(t.Context(), a.set(sum(rivers)))
		if err != nil || len(got) != 1 || !got[0].Pinned || got[0].Kept != (round == 1) {
			t.Fatalf("round %d: %+v, %v", round, got, err)
		}
		if text, err := os.ReadFile(got[0].Path); err != nil || !bytes.Equal(text, rivers) {
			t.Fatalf("the file has %d bytes, %v", len(text), err)
		}
	}
	if len(a.ranges) != 1 {
		t.Errorf("%d requests", len(a.ranges))
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "rivers", "*.served*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestAFileThatWasChangedHereIsFetchedAgain(t *testing.T) {
	t.Parallel()
	a, dir := newAuthor(t, rivers), t.TempDir()
	got, err := newFetcher(dir).Fetch(t.Context(), a.set(sum(rivers)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(got[0].Path, []byte("tampered"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err = newFetcher(dir).Fetch(t.Context(), a.set(sum(rivers))); err != nil || got[0].Kept {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestAnotherChecksumIsAnErrorAndLeavesNothing(t *testing.T) {
	t.Parallel()
	a, dir := newAuthor(t, rivers), t.TempDir()
	_, err := newFetcher(dir).Fetch(t.Context(), a.set(sum([]byte("other"))))
	if err == nil || !strings.Contains(err.Error(), "fetch rivers: q.jsonl: checksum mismatch (got "+sum(rivers)) {
		t.Errorf("error %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "rivers", "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestAnInterruptedDownloadIsResumed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		noRanges bool
		cuts     int
		after    int
		want     []string // ranges asked for
	}{
		{"within a call", false, 2, 0, []string{"", "bytes=1000-", "bytes=2000-"}},
		{"by a server that serves no ranges, from the beginning", true, 1, 0, []string{"", "bytes=1000-"}},
		{"as long as something comes", false, 2 * download.Attempts, 0, []string{"", "bytes=1000-", "bytes=2000-",
			"bytes=3000-", "bytes=4000-", "bytes=5000-", "bytes=6000-", "bytes=7000-", "bytes=8000-"}},
		{"by the next call, after too many attempts in vain", false, 1, 503,
			[]string{"", "bytes=1000-", "bytes=1000-", "bytes=1000-", "bytes=1000-", "bytes=1000-"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, dir := newAuthor(t, rivers), t.TempDir()
			a.cut, a.cuts, a.noRanges, a.after = 1000, c.cuts, c.noRanges, c.after
			_, err := newFetcher(dir).Fetch(t.Context(), a.set(sum(rivers)))
			if c.after != 0 {
				if err == nil || !strings.Contains(err.Error(), "the same command resumes it") {
					t.Fatalf("error %v", err)
				}
				a.after = 0
				_, err = newFetcher(dir).Fetch(t.Context(), a.set(sum(rivers)))
			}
			if err != nil || !slices.Equal(a.ranges, c.want) {
				t.Errorf("asked for %q, %v", a.ranges, err)
			}
		})
	}
}

func TestAFileThatChangedWhileItWasFetchedIsFetchedFromTheBeginning(t *testing.T) {
	t.Parallel()
	a, dir := newAuthor(t, rivers), t.TempDir()
	a.cut, a.cuts, a.after = 1000, 1, 503
	if _, err := newFetcher(dir).Fetch(t.Context(), a.set("")); err == nil {
		t.Fatal("a server that fails from then on is no error")
	}
	a.after = 0
	changed := bytes.ToUpper(rivers)
	a.content = changed
	got, err := newFetcher(dir).Fetch(t.Context(), a.set(""))
	if err != nil || got[0].SHA256 != sum(changed) {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestWhatIsNotThereSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for status, says := range map[int]string{404: "--mirror", 403: "--mirror", 503: "resumes it"} {
		a := newAuthor(t, rivers)
		a.status = status
		_, err := newFetcher(t.TempDir()).Fetch(t.Context(), a.set(sum(rivers)))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) || !strings.Contains(err.Error(), says) {
			t.Errorf("%d: error %v", status, err)
		}
		if want := map[bool]int{true: download.Attempts, false: 1}[status >= 500]; len(a.ranges) != want {
			t.Errorf("%d was asked for %d times, want %d", status, len(a.ranges), want)
		}
	}
	a := newAuthor(t, rivers)
	a.Close()
	if _, err := newFetcher(t.TempDir()).Fetch(t.Context(), a.set("")); err == nil {
		t.Error("a server that is down is no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newFetcher(t.TempDir()).Fetch(ctx, a.set("")); err == nil {
		t.Error("an interrupted command is no error")
	}
}

func TestAChecksumThatIsNotKnownIsRecordedAndHoldsFromThenOn(t *testing.T) {
	t.Parallel()
	a, dir := newAuthor(t, rivers), t.TempDir()
	got, err := newFetcher(dir).Fetch(t.Context(), a.set(""))
	if err != nil || got[0].Pinned || got[0].SHA256 != sum(rivers) {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := os.Remove(got[0].Path); err != nil {
		t.Fatal(err)
	}
	a.content = []byte("another version")
	if _, err := newFetcher(dir).Fetch(t.Context(), a.set("")); err == nil ||
		!strings.Contains(err.Error(), "checksum mismatch") {
		t.Errorf("error %v", err)
	}
}

func zipped(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAMemberOfAnArchiveIsUnpacked(t *testing.T) {
	t.Parallel()
	archive := zipped(t, "data/q.jsonl", rivers)
	a, dir := newAuthor(t, archive), t.TempDir()
	set := a.set(sum(archive))
	set.Files[0].Member = "data/q.jsonl"
	got, err := newFetcher(dir).Fetch(t.Context(), set)
	if err != nil || got[0].SHA256 != sum(rivers) {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err = newFetcher(dir).Fetch(t.Context(), set); err != nil || !got[0].Kept {
		t.Errorf("the second time %+v, %v", got, err)
	}
	set.Files[0].Name, set.Files[0].Member = "r.jsonl", "data/r.jsonl"
	if _, err := newFetcher(dir).Fetch(t.Context(), set); err == nil || !strings.Contains(err.Error(), "unpack") {
		t.Errorf("a member that is not there: error %v", err)
	}
}

func TestAMirrorTakesThePlaceOfTheAuthors(t *testing.T) {
	t.Parallel()
	archive := zipped(t, "data/q.jsonl", rivers)
	a, first, second := newAuthor(t, archive), t.TempDir(), t.TempDir()
	set := a.set(sum(archive))
	set.Files[0].Member = "data/q.jsonl"
	if _, err := newFetcher(first).Fetch(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	a.status = http.StatusNotFound
	f := newFetcher(second)
	f.Mirror = first
	got, err := f.Fetch(t.Context(), set)
	if err != nil || got[0].SHA256 != sum(rivers) {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(first, "rivers", "q.jsonl"), []byte("tampered"), 0o600); err != nil {
		t.Fatal(err)
	}
	f = newFetcher(t.TempDir())
	f.Mirror = first
	if _, err := f.Fetch(t.Context(), set); err == nil || !strings.Contains(err.Error(), "mend the mirror") {
		t.Errorf("a mirror of other content: error %v", err)
	}
}

func TestTheListOfSetsIsWhole(t *testing.T) {
	t.Parallel()
	sets, err := publishedSets()
	if err != nil {
		t.Fatal(err)
	}
	hexadecimal := regexp.MustCompile(`^[0-9a-f]{64}$`)
	for _, s := range sets {
		questions := 0
		for _, f := range s.Files {
			if f.Name == "" || filepath.Base(f.Name) != f.Name || !strings.HasPrefix(f.URL, "https://") ||
				f.SHA256 != "" && !hexadecimal.MatchString(f.SHA256) {
				t.Errorf("%s: %+v", s.Name, f)
			}
			if f.Format != "" {
				questions++
			}
		}
		if s.Title == "" || s.Licence == "" || s.Source == "" || questions != 1 {
			t.Errorf("%+v", s)
		}
	}
}

func TestASetIsFoundByItsNameOnceItIsFetched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, says := range map[string]string{"qald10": "run `triplemesh eval fetch qald10`",
		"qald": "those known are"} {
		if _, _, _, err := FetchedQuestions(dir, name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	a := newAuthor(t, rivers)
	set := publishedSet{Name: "qald10", Files: []publishedFile{{Name: "qald_10.json", URL: a.URL, Format: "qald"}}}
	if _, err := newFetcher(dir).Fetch(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	path, format, checksum, err := FetchedQuestions(dir, "qald10")
	if err != nil || filepath.Base(path) != "qald_10.json" || format != "qald" || checksum != sum(rivers) {
		t.Errorf("%s, %s, %s, %v", path, format, checksum, err)
	}
}

func TestTheCommandListsSetsAndFetchesFromAMirror(t *testing.T) {
	t.Parallel()
	dir, mirror := t.TempDir(), t.TempDir()
	board := terminal.NewBoard(terminal.Detect(io.Discard, nil))
	var out bytes.Buffer
	if err := (&FetchCommand{}).Run(t.Context(), dir, board, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "webqsp") || strings.Contains(out.String(), "yes") {
		t.Errorf("listed\n%s", &out)
	}
	if err := os.MkdirAll(filepath.Join(mirror, "webqsp"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(mirror, "webqsp", "WebQSP.test.json"), rivers, 0o600); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	fetch := FetchCommand{Names: []string{"webqsp"}, Mirror: mirror}
	if err := fetch.Run(t.Context(), dir, board, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"licence: ", "source: ", "recorded at the first fetch", sum(rivers)[:12]} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &out)
		}
	}
	if err := (&FetchCommand{Names: []string{"nothing"}}).Run(t.Context(), dir, board, &out); err == nil {
		t.Error("an unknown set is no error")
	}
}
