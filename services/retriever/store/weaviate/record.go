package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// record is all that is known of a knowledge graph: which snapshots it has and
// which is active. It is the description of a collection without rows, so that
// one change of the schema, which raft replicates, changes it.
type record struct {
	// Revision rises with every change.
	Revision int64
	Tenant   string
	KG       string
	// Next is the number of the next snapshot.
	Next uint64
	// Active is the snapshot that questions read, 0 for none; Previous those
	// that were active before, the last one last.
	Active    uint64
	Previous  []uint64
	Snapshots []entry
	// Pending are being loaded, or were when somebody's process ended.
	Pending []pending
	// Dropped are hidden, and deleted when no question can read them any more.
	Dropped []dropped
}

// entry is a snapshot.
type entry struct {
	store.Info
	// Dated says that some triple has a validity.
	Dated bool
	// NameBytes and HolderBytes are the sizes of the two files of the name
	// index, which lie one after the other, NameSHA256 is the checksum of both
	// and NamePieces into how many rows they are cut.
	NameBytes, HolderBytes int64
	NameSHA256             string
	NamePieces             int
}

// pending is a snapshot on its way. Fingerprint tells whether another load has
// the same content and may go on with it; Beat is when somebody last worked on
// it.
type pending struct {
	Number      uint64
	Fingerprint string
	Owner       string
	Beat        time.Time
}

type dropped struct {
	Number uint64
	At     time.Time
}

func (r *record) find(number uint64) (entry, bool) {
	for _, e := range r.Snapshots {
		if e.Number == number {
			return e, true
		}
	}
	return entry{}, false
}

// numbers are those of the snapshots, newest first.
func (r *record) numbers() []uint64 {
	var numbers []uint64
	for _, e := range r.Snapshots {
		numbers = append(numbers, e.Number)
	}
	slices.Sort(numbers)
	slices.Reverse(numbers)
	return numbers
}

func (r *record) activate(number uint64) {
	if r.Active != 0 && r.Active != number {
		r.Previous = append(r.Previous, r.Active)
	}
	r.Active = number
}

// fresh is how long a record that was read is taken for current.
const fresh = 500 * time.Millisecond

// known is the newest record of a knowledge graph that this process has seen.
type known struct {
	record record
	read   time.Time
}

// current returns the record of a knowledge graph, no older than fresh. Nodes
// learn of a change at different times; an older record than the one already
// seen does not count. While no node answers, the last one seen does.
func (s *Store) current(ctx context.Context, kg string) (record, error) {
	if err := store.CheckName(kg); err != nil {
		return record{}, err
	}
	s.mutex.Lock()
	seen, ok := s.records[kg]
	s.mutex.Unlock()
	if ok && time.Since(seen.read) < fresh {
		return seen.record, nil
	}
	found, _, err := s.readRecord(ctx, kg, false)
	if errors.Is(err, store.ErrNotFound) {
		// Perhaps it is too new for the node that was asked.
		found, _, err = s.readRecord(ctx, kg, true)
	}
	if err != nil && ok && !errors.Is(err, store.ErrNotFound) && ctx.Err() == nil {
		return seen.record, nil
	}
	if err != nil {
		return record{}, err
	}
	return s.saw(found), nil
}

// saw remembers a record, and returns the newest.
func (s *Store) saw(found record) record {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if seen, ok := s.records[found.KG]; ok && seen.record.Revision > found.Revision {
		found = seen.record
	}
	s.records[found.KG] = known{found, time.Now()}
	return found
}

// readRecord reads a record and the collection it is kept in; consistent asks
// the raft leader.
func (s *Store) readRecord(ctx context.Context, kg string, consistent bool) (record, class, error) {
	def, err := s.cluster.readClass(ctx, recordName(s.home, kg), consistent)
	if errors.Is(err, errNoClass) {
		return record{}, nil, store.ErrNotFound
	}
	if err != nil {
		return record{}, nil, err
	}
	r, err := parseRecord(def)
	if err == nil && (r.KG != kg || r.Tenant != s.tenant) {
		err = fmt.Errorf("collection %v is the record of %q of tenant %q: %w", def["class"], r.KG, r.Tenant, store.ErrCorrupt)
	}
	return r, def, err
}

func parseRecord(def class) (record, error) {
	var r record
	text, _ := def["description"].(string)
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return record{}, fmt.Errorf("the description of collection %v is no record of a knowledge graph (%v): %w", def["class"], err, store.ErrCorrupt)
	}
	return r, nil
}

// change changes a record, or makes one where there is none, while nobody else
// does.
func (s *Store) change(ctx context.Context, kg string, edit func(*record) error) (record, error) {
	if err := store.CheckName(kg); err != nil {
		return record{}, err
	}
	unlock, err := s.lock(ctx, kg)
	if err != nil {
		return record{}, err
	}
	defer unlock()
	r, def, err := s.readRecord(ctx, kg, true)
	if errors.Is(err, store.ErrNotFound) {
		r, def = record{KG: kg, Tenant: s.tenant, Next: 1, Revision: time.Now().UnixNano()}, nil
	} else if err != nil {
		return record{}, err
	}
	if err := edit(&r); err != nil {
		return record{}, err
	}
	r.Revision++
	text, err := json.Marshal(r)
	if err != nil {
		return record{}, fmt.Errorf("write the record of %s: %w", kg, err)
	}
	if def == nil {
		err = s.cluster.createClass(ctx, bare(recordName(s.home, kg), string(text)))
	} else {
		err = s.cluster.describe(ctx, def, string(text))
	}
	if err != nil {
		return record{}, fmt.Errorf("write the record of %s: %w", kg, err)
	}
	return s.saw(r), nil
}
