package load

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// recordingTarget is a target that shows what it is given.
type recordingTarget struct{ content string }

func (c *recordingTarget) Write(ctx context.Context, kg string, content store.Content) (info store.Info, err error) {
	c.content, err = dump(ctx, content)
	return store.Info{KG: kg, Number: 1, Triples: content.TripleCount}, err
}

func (c *recordingTarget) Activate(_ context.Context, kg string, number uint64) (store.Info, error) {
	return store.Info{KG: kg, Number: number}, nil
}

func (c *recordingTarget) Drop(context.Context, string, uint64) ([]uint64, error) { return nil, nil }

// inputs writes files of some formats.
func inputs(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	var tsv, nt, ttl bytes.Buffer
	zip := gzip.NewWriter(&nt)
	for i := range 300 {
		fmt.Fprintf(&tsv, "subject %d\tis %d\tobject %d\t%d\n", i%50, i%3, i%70, 1900+i%40)
		fmt.Fprintf(zip, "<http://x/s%d> <http://x/p%d> _:o%d .\n", i%40, i%5, i%60)
		fmt.Fprintf(&ttl, "<http://x/s%d> <http://x/is> \"%d\" .\n", i%60, i)
		if i%5 == 0 {
			fmt.Fprintf(zip, "<http://x/s%d> <http://www.w3.org/2000/01/rdf-schema#label> \"label %d\"@en .\n", i%40,
				i%30)
			fmt.Fprintln(&tsv, "a bad line")
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range []struct {
		name string
		text []byte
	}{{"1.tsv", tsv.Bytes()}, {"2.nt.gz", nt.Bytes()}, {"3.ttl", ttl.Bytes()}} {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, f.text, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

const resumeMemory = 1 << 15

func resumeOptions(scratch string) Options {
	return Options{KG: "test", Scratch: scratch, Memory: resumeMemory, Resume: true}
}

// killingDisk kills this process before the n-th operation on the disk.
type killingDisk struct {
	osDisk
	remaining int
}

func (d *killingDisk) next() {
	if d.remaining--; d.remaining < 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (d *killingDisk) Create(path string) (extsort.File, error) {
	d.next()
	f, err := d.osDisk.Create(path)
	return &killingFile{f, d}, err
}

func (d *killingDisk) Append(path string) (extsort.File, error) {
	d.next()
	f, err := d.osDisk.Append(path)
	return &killingFile{f, d}, err
}

func (d *killingDisk) CreateTemp(dir, pattern string) (extsort.File, error) {
	d.next()
	return d.osDisk.CreateTemp(dir, pattern)
}

func (d *killingDisk) Open(path string) (input, error) {
	d.next()
	return d.osDisk.Open(path)
}

type killingFile struct {
	extsort.File
	disk *killingDisk
}

func (f *killingFile) Write(p []byte) (int, error) {
	f.disk.next()
	return f.File.Write(p)
}

// killingEncoder kills this process at its n-th call.
type killingEncoder struct {
	encoder.Encoder
	disk *killingDisk
}

func (l killingEncoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	l.disk.next()
	return l.Encoder.Encode(ctx, texts)
}

// TestKilledLoad is what the child of TestALoadResumesAfterAKill does.
func TestKilledLoad(t *testing.T) {
	operations, err := strconv.Atoi(os.Getenv("TRIPLEMESH_TEST_OPERATIONS"))
	if err != nil {
		t.Skip("is run by another test")
	}
	options := resumeOptions(os.Getenv("TRIPLEMESH_TEST_SCRATCH"))
	disk := &killingDisk{remaining: operations}
	options.disk = disk
	_, err = Files(t.Context(), &recordingTarget{}, killingEncoder{storetest.HashEncoder(4), disk},
		strings.Split(os.Getenv("TRIPLEMESH_TEST_FILES"), "\n"), options)
	fmt.Println("lived on:", err, "operations:", operations-disk.remaining)
}

func TestALoadResumesAfterAKill(t *testing.T) {
	paths := inputs(t)
	var whole recordingTarget
	want, err := Files(t.Context(), &whole, storetest.HashEncoder(4), paths, Options{KG: "test"})
	if err != nil {
		t.Fatal(err)
	}
	gone := map[int]int{}
	moments := []int{0, 5, 7, 20, 45, 80, 100, 115, 125, 1 << 30}
	if os.Getenv("KILLS") != "" { // then at every operation that there is
		for operations := range 125 {
			moments = append(moments, operations)
		}
	}
	for _, operations := range moments {
		scratch := t.TempDir()
		out, err := runChild(scratch, paths, operations)
		if operations < 1<<30 && err == nil {
			t.Fatalf("killed at operation %d, the child went on:\n%s", operations, out)
		}
		if operations == 1<<30 {
			t.Logf("%s", out)
		}
		past, err := readJournal(filepath.Join(scratch, "load-test"))
		if err != nil {
			t.Fatal(err)
		}
		if past != nil {
			gone[operations] = len(past.batches)
		}
		var got recordingTarget
		report, err := Files(t.Context(), &got, storetest.HashEncoder(4), paths, resumeOptions(scratch))
		if err != nil {
			t.Fatalf("killed at operation %d: %v", operations, err)
		}
		if got.content != whole.content || report.Lines != want.Lines || report.BadLines != want.BadLines ||
			report.Duplicates != want.Duplicates || len(report.Errors) != len(want.Errors) {
			t.Errorf("killed at operation %d: %+v, want %+v; the same content: %v", operations, report, want,
				got.content == whole.content)
		}
		for i := range report.Errors {
			if report.Errors[i].Error() != want.Errors[i].Error() {
				t.Errorf("killed at operation %d: error %d is %v, want %v", operations, i, report.Errors[i],
					want.Errors[i])
			}
		}
		if left, err := os.ReadDir(scratch); err != nil || len(left) != 0 {
			t.Errorf("killed at operation %d: %v is left, error %v", operations, left, err)
		}
	}
	testkit.Measured(t, "killed at %d operations in turn: all resume", len(moments)-1)
	if gone[80] < 5 || gone[7] > gone[80] {
		t.Errorf("batches there were to go on with: %v", gone)
	}
}

// startInterrupted begins a load whose context ends within its last file.
func startInterrupted(t *testing.T, options Options, files ...[2]string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := New(options)
	defer l.Close()
	for _, f := range files[:len(files)-1] {
		if err := l.Read(ctx, f[0], DetectFormat, strings.NewReader(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	last := files[len(files)-1]
	err := l.Read(ctx, last[0], DetectFormat, &cancellingReader{strings.NewReader(last[1]), cancel})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v", err)
	}
}

// cancellingReader cancels where its text ends.
type cancellingReader struct {
	*strings.Reader
	cancel func()
}

func (c *cancellingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err != nil {
		c.cancel()
		err = context.Canceled
	}
	return n, err
}

func TestResumedStreams(t *testing.T) {
	rows := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "subject %d\tis\tobject %d\n", i, i%7)
		}
		return b.String()
	}
	first, second := [2]string{"1.tsv", rows(0, 3000) + "bad\n"}, [2]string{"2.tsv", rows(2000, 60_000)}
	for name, c := range map[string]struct {
		files  [][2]string
		change func(*Options)
		says   string
	}{
		"the same streams": {files: [][2]string{first, second}},
		"and one more":     {files: [][2]string{first, second, {"3.tsv", rows(0, 5)}}},
		"another name":     {files: [][2]string{{"0.tsv", first[1]}, second}, says: "had as file 1 1.tsv"},
		"other bytes at the start": {files: [][2]string{{"1.tsv", rows(1, 3000)}, second},
			says: "had as file 1 1.tsv"},
		"a file too few": {files: [][2]string{first}, says: "had 2 files or more"},
		"another language": {files: [][2]string{first, second},
			change: func(o *Options) { o.Language = "de" }, says: "was of"},
		"start over": {files: [][2]string{second}, change: func(o *Options) { o.Resume = false }},
		"without a directory for files": {files: [][2]string{second}, change: func(o *Options) { o.Scratch = "" },
			says: "no scratch directory"},
	} {
		t.Run(name, func(t *testing.T) {
			scratch := t.TempDir()
			options := resumeOptions(scratch)
			options.Memory = 1 << 19
			startInterrupted(t, options, first, second)
			past, err := readJournal(filepath.Join(scratch, "load-test"))
			if err != nil || past == nil || len(past.batches) == 0 || past.resumePoint().File != 2 {
				t.Fatalf("the journal tells %+v, error %v", past, err)
			}
			if c.change != nil {
				c.change(&options)
			}
			load := func(options Options) (string, Report, error) {
				var got recordingTarget
				l := New(options)
				defer l.Close()
				for _, f := range c.files {
					if err := l.Read(t.Context(), f[0], DetectFormat, strings.NewReader(f[1])); err != nil {
						return "", Report{}, err
					}
				}
				report, err := l.Finish(t.Context(), &got, storetest.HashEncoder(4))
				return got.content, report, err
			}
			got, report, err := load(options)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) || !errors.Is(err, store.ErrInvalid) {
					t.Errorf("error is %v, want it to say %q", err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want, wantReport, err := load(Options{KG: "test"})
			if err != nil || got != want || report.Lines != wantReport.Lines ||
				report.Duplicates != wantReport.Duplicates || report.BadLines != wantReport.BadLines {
				t.Errorf("%+v, want %+v, error %v; the same content: %v", report, wantReport, err, got == want)
			}
		})
	}
}

func TestALoadResumesTwice(t *testing.T) {
	scratch, paths := t.TempDir(), inputs(t)
	var want, got recordingTarget
	if _, err := Files(t.Context(), &want, storetest.HashEncoder(4), paths, Options{KG: "test"}); err != nil {
		t.Fatal(err)
	}
	batches := 0
	for _, operations := range []int{40, 60, 30} {
		// A child that is killed while it writes leaves half a line.
		journal := filepath.Join(scratch, "load-test", journalName)
		if batches > 0 {
			whole, err := os.ReadFile(journal)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(journal, append(whole, `{"file":{"num`...), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := runChild(scratch, paths, operations); err == nil {
			t.Fatalf("the child went on:\n%s", out)
		}
		past, err := readJournal(filepath.Dir(journal))
		if err != nil || past == nil || len(past.batches) < batches {
			t.Fatalf("%+v, error %v", past, err)
		}
		batches = len(past.batches)
	}
	if _, err := Files(t.Context(), &got, storetest.HashEncoder(4), paths, resumeOptions(scratch)); err != nil ||
		got != want {
		t.Errorf("the same content: %v, error %v", got == want, err)
	}
}

// runChild loads in a process of its own that is killed before the n-th operation
// on its disk.
func runChild(scratch string, paths []string, operations int) ([]byte, error) {
	c := exec.Command(os.Args[0], "-test.run=^TestKilledLoad$")
	c.Env = append(os.Environ(), "TRIPLEMESH_TEST_OPERATIONS="+strconv.Itoa(operations),
		"TRIPLEMESH_TEST_SCRATCH="+scratch, "TRIPLEMESH_TEST_FILES="+strings.Join(paths, "\n"))
	return c.CombinedOutput()
}

func TestOneLoadAtATime(t *testing.T) {
	scratch := t.TempDir()
	first, second := New(resumeOptions(scratch)), New(resumeOptions(scratch))
	if err := first.Read(t.Context(), "a.tsv", DetectFormat, strings.NewReader("a\tis\tb\n")); err != nil {
		t.Fatal(err)
	}
	if err := second.Read(t.Context(), "a.tsv", DetectFormat, strings.NewReader("a\tis\tb\n")); !errors.Is(err,
		ErrBusy) {
		t.Errorf("a second load of the graph: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third := New(resumeOptions(scratch))
	if err := third.Read(t.Context(), "a.tsv", DetectFormat, strings.NewReader("a\tis\tb\n")); err != nil {
		t.Errorf("after the first one is over: %v", err)
	}
	if err := third.Close(); err != nil {
		t.Error(err)
	}
}

func TestACorruptJournalIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"no journal":   {"nonsense\n", "is corrupt"},
		"no beginning": {`{"batch":{"number":0}}` + "\n", "is corrupt"},
		"a batch that is missing": {`{"load":{"version":1,"kg":"test"}}` + "\n" + `{"batch":{"number":0,"at_file":1}}` +
			"\n", "does not match the journal"},
		"another version": {`{"load":{"version":9,"kg":"test"}}` + "\n", "was of"},
	} {
		scratch := t.TempDir()
		if err := os.MkdirAll(filepath.Join(scratch, "load-test"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(scratch, "load-test", journalName), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		l := New(resumeOptions(scratch))
		err := l.Read(t.Context(), "a.tsv", DetectFormat, strings.NewReader("a\tis\tb\n"))
		if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func FuzzJournal(f *testing.F) {
	f.Add(`{"load":{"version":1,"kg":"test"}}` + "\n" + `{"file":{"number":1,"name":"a.tsv","format":"TSV"}}` + "\n" +
		`{"batch":{"number":0,"at_file":1,"statements":7}}` + "\n{")
	f.Add(`{"load":null}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, journalName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		past, err := readJournal(dir)
		if err != nil || past == nil {
			return
		}
		if _, err := past.openBatches(&scratch{disk: osDisk{}, dir: dir}); err == nil && len(past.batches) > 0 {
			t.Errorf("batches without files are taken: %+v", past.batches)
		}
	})
}

var _ source.Sink = &Builder{}
