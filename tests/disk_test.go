//go:build unix

package tests

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// Filling a disk takes privileges, but a process may limit the size of its files: the kernel then
// fails a write half way, as on a full disk.
func TestALoadThatFindsNoRoomLeavesTheOldSnapshot(t *testing.T) {
	m := start(t, options{model: scripted(t)})
	var facts bytes.Buffer
	for i := range 40 {
		fmt.Fprintf(&facts, "Robert Stam\tnotes\t%d %s\n", i, strings.Repeat("of a long paper ", 4000))
	}
	lift := limitFiles(t, 2<<20)
	_, err := testkit.LoadTSV(timeoutContext(t, patience), m.graphs, wikidata, facts.Bytes(), false)
	lift()
	checkStatus(t, err, codes.ResourceExhausted, "full")

	if got := m.listed(t, wikidata); !slices.Equal(got, []uint64{2, 1}) {
		t.Errorf("the snapshots are %v, want 2 and 1", got)
	}
	entries, err := os.ReadDir(filepath.Join(m.data, "kg", wikidata))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".building") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
	req := question("pg-akv")
	req.Kg.Snapshot = 0
	if run := m.ask(t, req); run.GetKg().GetSnapshot() != 2 || names(run) != otherEmployer {
		t.Errorf("the answer is %s from snapshot %d", names(run), run.GetKg().GetSnapshot())
	}
	if resp, err := testkit.LoadTSV(timeoutContext(t, patience), m.graphs, wikidata,
		[]byte("Robert Stam\temployer\tNobody\n"),
		false); err != nil || resp.GetSnapshot().GetKg().GetSnapshot() != 3 {
		t.Errorf("with room again: %v, %v", resp, err)
	}
}

// limitFiles limits the size of the files that this process writes, in bytes, until lift is called.
func limitFiles(t *testing.T, most uint64) (lift func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	limit := before
	limit.Cur = most
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	}
}
