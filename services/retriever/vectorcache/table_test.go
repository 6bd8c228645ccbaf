package vectorcache

import (
	"math/rand/v2"
	"testing"
)

func TestTableIsAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var got table
	want := map[uint64]location{}
	for i := range 20_000 {
		// Few distinct high bits make long runs of neighbours.
		fingerprint := random.Uint64N(64)<<58 | random.Uint64N(400)
		at := location{uint32(i % 7), uint32(i + 1)}
		got.insert(fingerprint, at)
		want[fingerprint] = at
	}
	check := func() {
		t.Helper()
		if got.entries != len(want) {
			t.Errorf("%d entries, want %d", got.entries, len(want))
		}
		for fingerprint, at := range want {
			if found, ok := got.find(fingerprint); !ok || found != at {
				t.Fatalf("%x is at %v, %v, want %v", fingerprint, found, ok, at)
			}
		}
		if at, ok := got.find(1 << 40); ok {
			t.Errorf("what was never put is at %v", at)
		}
	}
	check()
	got.reserve(50_000)
	check()
	got.retain(func(p location) bool { return p.segment != 3 })
	for fingerprint, at := range want {
		if at.segment == 3 {
			delete(want, fingerprint)
		}
	}
	check()
	if _, ok := new(table).find(1); ok {
		t.Error("an empty table found something")
	}
}
