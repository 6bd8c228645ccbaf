package embedded

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestALargeColumnIsReleasedFromMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "column")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = maxResidentBytes + 1<<20
	if err := f.Truncate(size); err != nil { // a sparse file takes no room
		t.Fatal(err)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Munmap(data); err != nil {
			t.Error(err)
		}
	}()
	h := residency{data: data}
	for range maxResidentBytes/(faultAroundBytes+1) - 1 {
		h.touch(0, 1)
	}
	if h.bytes.Load() == 0 {
		t.Error("it was let go of too early")
	}
	for range 3 {
		h.touch(0, 1)
	}
	if got := h.bytes.Load(); got > 3*(faultAroundBytes+1) {
		t.Errorf("%d bytes are still counted", got)
	}
	if data[0] != 0 {
		t.Error("what was let go of cannot be read")
	}
	small := residency{data: data[:maxResidentBytes]}
	small.touch(0, maxResidentBytes)
	small.touch(0, maxResidentBytes)
	if small.bytes.Load() != 0 {
		t.Error("a column that may stay whole is counted")
	}
}
