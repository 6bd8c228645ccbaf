package embedded

import (
	"os"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return newStore(t) })
}

// unsynced is a disk that does not wait for the device; nothing cuts the power
// of a test.
type unsynced struct{ osDisk }

func (unsynced) Create(path string) (file, error) {
	f, err := os.Create(path)
	return unsyncedFile{f}, err
}

func (unsynced) SyncDir(string) error { return nil }

type unsyncedFile struct{ *os.File }

func (unsyncedFile) Sync() error { return nil }

func newStore(t testing.TB) *Store {
	s := New(t.TempDir())
	s.disk = unsynced{}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
