package load

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// record is a fact by numbers: subject, relation, object and origin. Records
// in ascending order are triples in the order of a snapshot.
type record [4]uint32

// Classes keep keys of one text apart. A class is the first byte of a key in vocabularies and so
// decides their order; units come before the quantities that they are the units of.
const (
	literalClass  = 'L' // the text of a literal
	nodeClass     = 'N' // the key of a node or a relation
	quantityClass = 'Q' // a number, a zero byte and the key of its unit
	originClass   = 'V' // the start, a zero byte, the end and, after another, the provenance
)

// use says what a key was used for, in bits.
type use uint16

const (
	// asKind shifted by a store.Kind: as an end of a fact, of that kind.
	asKind     use = 1
	asNode     use = 1<<(store.Date+1) - 1
	asRelation use = 1 << (store.Date + 1)
	asUnit     use = 1 << (store.Date + 2)
	asOrigin   use = 1 << (store.Date + 3)
)

// nameRef is a label or alias of a key, by its number in a batch.
type nameRef struct {
	key      uint32
	rank     int32 // of a label
	from, to uint32
}

// batch is as many statements as fit in its memory, with a vocabulary of its own.
type batch struct {
	seed      maphash.Seed
	keys      []byte   // all keys, each with its class
	ends      []uint32 // where each key ends
	uses      []use
	slots     []uint64  // the upper half of a key's hash and its number + 1
	facts     []record  // by the numbers of keys
	text      []byte    // names of labels and aliases
	labels    []nameRef // the best of each key
	bestLabel map[uint32]int32
	aliases   []nameRef // aliases
	noOrigin  uint32    // the key of no validity and no provenance
	joined    []byte
}

func newBatch() *batch {
	b := &batch{seed: maphash.MakeSeed(), bestLabel: map[uint32]int32{}}
	b.reset()
	return b
}

// reset forgets all but the memory.
func (b *batch) reset() {
	b.keys, b.ends, b.uses, b.facts = b.keys[:0], b.ends[:0], b.uses[:0], b.facts[:0]
	b.text, b.labels, b.aliases = b.text[:0], b.labels[:0], b.aliases[:0]
	if b.slots == nil {
		b.slots = make([]uint64, 1<<8)
	}
	clear(b.slots)
	clear(b.bestLabel)
	b.noOrigin = b.intern(originClass, []byte{0}, asOrigin)
}

// bytes is the memory that the contents take.
func (b *batch) bytes() int {
	return len(b.keys) + 6*len(b.ends) + 8*len(b.slots) + 16*len(b.facts) + len(b.text) +
		16*(len(b.labels)+len(b.aliases)) + 32*len(b.bestLabel)
}

func (b *batch) isEmpty() bool { return len(b.ends) == 1 }

func (b *batch) key(id uint32) []byte {
	from := uint32(0)
	if id > 0 {
		from = b.ends[id-1]
	}
	return b.keys[from:b.ends[id]]
}

// intern numbers a key and notes its use.
func (b *batch) intern(class byte, key []byte, as use) uint32 {
	hash := maphash.Bytes(b.seed, key)
	// Keys of one text differ by their class.
	hash ^= uint64(class) * 0x9e3779b97f4a7c15
	mask := uint64(len(b.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		slot := b.slots[at]
		if slot == 0 {
			return b.insert(at, hash, class, key, as)
		}
		if slot>>32 != hash>>32 {
			continue
		}
		id := uint32(slot) - 1
		if known := b.key(id); known[0] == class && string(known[1:]) == string(key) {
			b.uses[id] |= as
			return id
		}
	}
}

func (b *batch) insert(at, hash uint64, class byte, key []byte, as use) uint32 {
	id := uint32(len(b.ends))
	b.keys = append(append(b.keys, class), key...)
	b.ends = append(b.ends, uint32(len(b.keys)))
	b.uses = append(b.uses, as)
	b.slots[at] = hash>>32<<32 | uint64(id+1)
	if 3*len(b.ends) > 2*len(b.slots) {
		b.grow()
	}
	return id
}

// grow doubles the slots. A slot holds the upper half of its hash only, so the rest is rebuilt.
func (b *batch) grow() {
	b.slots = make([]uint64, 2*len(b.slots))
	mask := uint64(len(b.slots) - 1)
	for id := range b.ends {
		key := b.key(uint32(id))
		hash := maphash.Bytes(b.seed, key[1:]) ^ uint64(key[0])*0x9e3779b97f4a7c15
		at := hash & mask
		for b.slots[at] != 0 {
			at = (at + 1) & mask
		}
		b.slots[at] = hash>>32<<32 | uint64(id+1)
	}
}

// internPair numbers a key of two parts.
func (b *batch) internPair(class byte, first, second string, as use) uint32 {
	b.joined = append(append(append(b.joined[:0], first...), 0), second...)
	return b.intern(class, b.joined, as)
}

// origin numbers when a fact holds and where it comes from.
func (b *batch) origin(v store.Validity, provenance string) uint32 {
	if v == (store.Validity{}) && provenance == "" {
		return b.noOrigin
	}
	b.joined = append(append(append(b.joined[:0], v.Start...), 0), v.End...)
	if provenance != "" {
		b.joined = append(append(b.joined, 0), provenance...)
	}
	return b.intern(originClass, b.joined, asOrigin)
}

// label keeps the best name of a key: of equal ranks the first.
func (b *batch) label(key []byte, name string, rank int) {
	id := b.intern(nodeClass, key, 0)
	rank32 := int32(max(min(rank, 1<<30), 0))
	at, ok := b.bestLabel[id]
	if !ok {
		b.bestLabel[id] = int32(len(b.labels))
		b.labels = append(b.labels, b.addName(id, name, rank32))
	} else if rank32 < b.labels[at].rank {
		b.labels[at] = b.addName(id, name, rank32)
	}
}

func (b *batch) addName(id uint32, name string, rank int32) nameRef {
	from := uint32(len(b.text))
	b.text = append(b.text, name...)
	return nameRef{key: id, rank: rank, from: from, to: uint32(len(b.text))}
}

func (b *batch) name(n nameRef) []byte { return b.text[n.from:n.to] }

// sortedIDs returns the numbers of the keys in the order of the keys.
func (b *batch) sortedIDs() []uint32 {
	order := make([]uint32, len(b.ends))
	for id := range order {
		order[id] = uint32(id)
	}
	b.sortKeys(order, 0, make([][3]uint32, 2*len(order)))
	return order
}

// sortKeys orders keys that share their first bytes: by the eight bytes after
// those in one go, and then those that share these too.
func (b *batch) sortKeys(ids []uint32, shared int, scratch [][3]uint32) {
	if len(ids) < 64 {
		slices.SortFunc(ids, func(x, y uint32) int { return bytes.Compare(b.key(x)[shared:], b.key(y)[shared:]) })
		return
	}
	prefixes, scratch := scratch[:len(ids)], scratch[len(ids):]
	for i, id := range ids {
		key := b.key(id)
		prefix := extsort.Prefix(key[min(shared, len(key)):])
		prefixes[i] = [3]uint32{uint32(prefix >> 32), uint32(prefix), id}
	}
	extsort.Sort(prefixes, scratch)
	for i, p := range prefixes {
		ids[i] = p[2]
	}
	for from := 0; from < len(prefixes); {
		to := from + 1
		for to < len(prefixes) && prefixes[to][0] == prefixes[from][0] && prefixes[to][1] == prefixes[from][1] {
			to++
		}
		if to-from > 1 {
			b.sortTies(ids[from:to], shared+8)
		}
		from = to
	}
}

// sortTies orders keys that share their first bytes or end within them: where
// some end, zero bytes stand for what is missing, so lengths count.
func (b *batch) sortTies(ids []uint32, shared int) {
	slices.SortFunc(ids, func(x, y uint32) int {
		return cmp.Compare(min(len(b.key(x)), shared), min(len(b.key(y)), shared))
	})
	ended := 0
	for ended < len(ids) && len(b.key(ids[ended])) < shared {
		ended++
	}
	if long := ids[ended:]; len(long) > 1 {
		b.sortKeys(long, shared, make([][3]uint32, 2*len(long)))
	}
}

// sortNamings puts namings in the order of their keys, aliases of one key in
// the order of their texts and without those that are there twice.
func (b *batch) sortNamings(place []uint32) {
	compare := func(x, y nameRef) int {
		return cmp.Or(cmp.Compare(place[x.key], place[y.key]), bytes.Compare(b.name(x), b.name(y)))
	}
	slices.SortFunc(b.labels, compare)
	slices.SortFunc(b.aliases, compare)
	b.aliases = slices.CompactFunc(b.aliases, func(x, y nameRef) bool { return compare(x, y) == 0 })
}

// classifyNode returns a node's kind by its uses: the more specific kind counts, since a source
// that knows no kinds says Entity of all. A text that is also the name of an entity is one.
func classifyNode(u use) store.Kind {
	for _, kind := range []store.Kind{store.Mediator, store.Date, store.Quantity, store.Number, store.Entity} {
		if u&(asKind<<kind) != 0 {
			return kind
		}
	}
	return store.Text
}
