package runs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// makeFile returns a small file with a run.
func makeFile(tb testing.TB) []byte {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "runs.db")
	db, err := Open(path, 0)
	if err != nil {
		tb.Fatal(err)
	}
	store, err := db.Tenant(auth.DefaultTenant())
	if err == nil {
		err = store.Save(&orchestratorv1.Run{Id: "01K00000000000000000000000", Question: "Who?"})
	}
	if err != nil {
		tb.Fatal(err)
	}
	if err := db.Close(); err != nil {
		tb.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return file
}

func FuzzCheckPages(f *testing.F) {
	file := makeFile(f)
	f.Add(file, 0, byte(0))
	f.Add(file[:100], 0, byte(0))
	f.Add([]byte{}, 0, byte(0))
	f.Add(file, os.Getpagesize()*3+40, byte(8))
	f.Fuzz(func(_ *testing.T, file []byte, at int, flip byte) {
		if at >= 0 && at < len(file) {
			file = bytes.Clone(file)
			file[at] ^= flip
		}
		_ = checkPages(bytes.NewReader(file), int64(len(file)))
	})
}

func TestPagesOfAWholeFileAreRight(t *testing.T) {
	file := makeFile(t)
	if err := checkPages(bytes.NewReader(file), int64(len(file))); err != nil {
		t.Error(err)
	}
	if err := checkPages(bytes.NewReader(file[:len(file)/4]), int64(len(file)/4)); err == nil {
		t.Error("a file that was cut is taken for whole")
	}
}

// findRoot returns the newest meta page of a file without its header, and the file from the root page on.
func findRoot(t *testing.T, file []byte) (meta, root []byte) {
	t.Helper()
	p := &pages{file: bytes.NewReader(file), length: int64(len(file)), used: map[uint64]bool{}}
	meta, err := p.readMeta()
	if err != nil {
		t.Fatal(err)
	}
	return meta, file[int64(binary.NativeEndian.Uint64(meta[16:]))*p.size:]
}

func TestABucketLeadsToNoPageButOfATree(t *testing.T) {
	file := makeFile(t)
	meta, root := findRoot(t, file)
	element := root[pageHeader:] // of the first bucket
	pos, key := binary.NativeEndian.Uint32(element[4:]), binary.NativeEndian.Uint32(element[8:])
	bucket := element[pos+key:]
	for _, id := range []uint64{1, binary.NativeEndian.Uint64(meta[32:])} {
		binary.NativeEndian.PutUint64(bucket, id)
		if err := checkPages(bytes.NewReader(file), int64(len(file))); !errors.Is(err, errDamaged) {
			t.Errorf("page %d: %v", id, err)
		}
	}
}

func TestABranchLeadsToNoMetaPage(t *testing.T) {
	file := makeFile(t)
	_, root := findRoot(t, file)
	binary.NativeEndian.PutUint16(root[8:], branchPage)
	binary.NativeEndian.PutUint16(root[10:], 1) // element
	element := root[pageHeader:]
	binary.NativeEndian.PutUint32(element, pageElement) // where its key begins
	binary.NativeEndian.PutUint32(element[4:], 0)
	for id := range uint64(2) {
		binary.NativeEndian.PutUint64(element[8:], id)
		if err := checkPages(bytes.NewReader(file), int64(len(file))); !errors.Is(err, errDamaged) {
			t.Errorf("page %d: %v", id, err)
		}
	}
}
