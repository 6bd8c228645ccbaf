package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func TestGuardTurnsFaultsIntoErrors(t *testing.T) {
	bad := errors.New("bad")
	for name, c := range map[string]struct {
		read func() error
		want error
	}{
		"nothing wrong": {func() error { return nil }, nil},
		"an error":      {func() error { return bad }, bad},
		"a fault":       {func() error { panic(&store.Fault{Err: store.ErrCorrupt}) }, store.ErrCorrupt},
		"a fault within two guards": {func() error {
			return store.Guard(func() error { panic(&store.Fault{Err: bad}) })
		}, bad},
		"a file cut off under its mapping": {readCutOff(t), store.ErrCorrupt},
	} {
		if err := store.Guard(c.read); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// readCutOff maps a file, cuts it off and reads where it was.
func readCutOff(t *testing.T) func() error {
	path := filepath.Join(t.TempDir(), "mapped")
	if err := os.WriteFile(path, make([]byte, 1<<14), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := unix.Mmap(int(f.Fd()), 0, 1<<14, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(data) })
	return func() error {
		if err := os.Truncate(path, 0); err != nil {
			return err
		}
		if data[1<<13] == 1 {
			return errors.New("the file holds a 1")
		}
		return nil
	}
}

func TestGuardLeavesOtherPanicsAlone(t *testing.T) {
	defer func() {
		if p := recover(); p != "mistake" {
			t.Errorf("recovered %v", p)
		}
	}()
	_ = store.Guard(func() error { panic("mistake") })
}

func TestAFaultNamesTheDamage(t *testing.T) {
	fault := &store.Fault{Err: errors.Join(errors.New("page 3"), store.ErrCorrupt)}
	if !errors.Is(fault, store.ErrCorrupt) || !strings.Contains(fault.Error(), "page 3") {
		t.Errorf("the fault is %v", fault)
	}
}
