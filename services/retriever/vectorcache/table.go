package vectorcache

import "math/bits"

// place is where a vector lies: a record of a segment. Records count from 1,
// so that a place of zeros is none.
type place struct{ segment, record uint32 }

// slot is one entry of the table, in 16 bytes.
type slot struct {
	fingerprint uint64
	place       place
}

// table finds a key's place by 64 bits of it, open-addressed with linear
// probing. Two keys of one fingerprint, which 2^32 of them may have, share one
// slot: the record's checksum, which covers the key, tells them apart.
type table struct {
	slots []slot
	used  int
}

// start is where the search for a fingerprint begins; it spreads them over a
// table of any size.
func (t *table) start(fingerprint uint64) int {
	high, _ := bits.Mul64(fingerprint, uint64(len(t.slots)))
	return int(high)
}

func (t *table) find(fingerprint uint64) (place, bool) {
	if len(t.slots) == 0 {
		return place{}, false
	}
	for i := t.start(fingerprint); t.slots[i].place.record != 0; i = t.after(i) {
		if t.slots[i].fingerprint == fingerprint {
			return t.slots[i].place, true
		}
	}
	return place{}, false
}

func (t *table) after(i int) int {
	if i++; i < len(t.slots) {
		return i
	}
	return 0
}

// put adds a place, or replaces that of the same fingerprint.
func (t *table) put(fingerprint uint64, at place) {
	if 8*(t.used+1) > 7*len(t.slots) {
		t.resize(t.used + t.used/2 + 1024)
	}
	i := t.start(fingerprint)
	for t.slots[i].place.record != 0 && t.slots[i].fingerprint != fingerprint {
		i = t.after(i)
	}
	if t.slots[i].place.record == 0 {
		t.used++
	}
	t.slots[i] = slot{fingerprint, at}
}

// reserve makes room for more entries at once.
func (t *table) reserve(more int) {
	if want := (t.used + more) * 8 / 7; want >= len(t.slots) {
		t.resize(want + 1024)
	}
}

func (t *table) resize(slots int) { t.rebuild(slots, func(place) bool { return true }) }

// keep forgets the places that the caller does not want.
func (t *table) keep(wanted func(place) bool) { t.rebuild(len(t.slots), wanted) }

func (t *table) rebuild(slots int, wanted func(place) bool) {
	former := t.slots
	t.slots, t.used = make([]slot, slots), 0
	for _, s := range former {
		if s.place.record != 0 && wanted(s.place) {
			t.put(s.fingerprint, s.place)
		}
	}
}
