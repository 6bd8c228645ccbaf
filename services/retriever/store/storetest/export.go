package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// testExport moves a delta and a whole snapshot to another name.
func testExport(t *testing.T, st store.Store) {
	whole := Build(t, st, "world", World(), [2]string{"東京", "Tokyo"})
	s := change(t, st, "world", Delta(World()[:2], []store.Fact{fact("Rome", "located in", "Italy")}))
	for _, number := range []uint64{0, whole, s.Info().Number} {
		var file bytes.Buffer
		if err := st.Export(t.Context(), "world", number, &file); err != nil {
			t.Fatal(err)
		}
		info, err := st.Import(t.Context(), "copy", iotest.HalfReader(bytes.NewReader(file.Bytes())))
		if err != nil {
			t.Fatal(err)
		}
		if info.KG != "copy" || info.Base != 0 {
			t.Errorf("imported: %+v", info)
		}
		if got, want := dump(t, Open(t, st, "copy", info.Number)), dump(t, Open(t, st, "world", number)); got != want {
			t.Errorf("the copy shows\n%s, want\n%s", got, want)
		}
		if again, err := st.Import(t.Context(), "", bytes.NewReader(file.Bytes())); err != nil || again.KG != "world" {
			t.Errorf("imported under the name it had: %+v, %v", again, err)
		}
		if active, _ := activeAndAll(t, st, "world"); active != whole {
			t.Errorf("after imports %d is active, want %d", active, whole)
		}
		if number == 0 {
			testDamagedImports(t, st, file.Bytes(), dump(t, Open(t, st, "copy", info.Number)))
		}
	}
	if err := st.Export(t.Context(), "nowhere", 0, io.Discard); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("export what is not there: %v", err)
	}
	failing := errors.New("the line is cut")
	if err := st.Export(t.Context(), "world", 0, failingWriter{failing}); !errors.Is(err, failing) {
		t.Errorf("export to a writer that fails: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := st.Export(cancelled, "world", whole, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("export for a caller who is gone: %v", err)
	}
}

// testDamagedImports imports files that are cut off or have a flipped bit.
func testDamagedImports(t *testing.T, st store.Store, file []byte, want string) {
	t.Helper()
	refuse := func(what string, at int, file []byte) {
		t.Helper()
		if info, err := st.Import(t.Context(), "damaged", bytes.NewReader(file)); err == nil {
			// Padding between files is no content.
			if dump(t, Open(t, st, "damaged", info.Number)) != want {
				t.Errorf("a file %s at %d of %d was imported", what, at, len(file))
			}
			if _, err := st.Drop(t.Context(), "damaged", 0); err != nil {
				t.Error(err)
			}
		} else if !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrInvalid) &&
			!errors.Is(err, store.ErrFormat) {
			t.Errorf("a file %s at %d of %d: %v", what, at, len(file), err)
		}
	}
	for at := 0; at < len(file); at += max(1, len(file)/17) {
		refuse("cut off", at, file[:at])
		flipped := bytes.Clone(file)
		flipped[at] ^= 0x10
		refuse("with a flipped bit", at, flipped)
	}
	if listed, err := st.List(t.Context(), "damaged"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("damaged files left %v, %v", listed, err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
