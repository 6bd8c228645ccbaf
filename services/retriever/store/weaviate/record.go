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

// catalogueRecord is everything known about a knowledge graph: which snapshots it has and
// which is active. It is the description of a collection without rows, so that
// one change of the schema, which raft replicates, changes it.
type catalogueRecord struct {
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
	// Pending are being loaded, or were when their process ended.
	Pending []pendingLoad
	// Dropped are hidden, and deleted when no question can read them any more.
	Dropped []droppedSnapshot
}

// entry is a snapshot.
type entry struct {
	store.Info
	// Dated reports whether some triple has a validity.
	Dated bool
	// StructureBytes and StructureSHA256 are the size and the checksum of the structure.
	StructureBytes  int64
	StructureSHA256 string
}

// pendingLoad is a snapshot on its way. Fingerprint is equal if another load has the same content
// and may resume it; Beat is when its process last worked on it.
type pendingLoad struct {
	Number      uint64
	Fingerprint string
	Owner       string
	Beat        time.Time
}

type droppedSnapshot struct {
	Number uint64
	At     time.Time
}

func (r *catalogueRecord) find(number uint64) (entry, bool) {
	for _, e := range r.Snapshots {
		if e.Number == number {
			return e, true
		}
	}
	return entry{}, false
}

// numbers are those of the snapshots, newest first.
func (r *catalogueRecord) numbers() []uint64 {
	var numbers []uint64
	for _, e := range r.Snapshots {
		numbers = append(numbers, e.Number)
	}
	slices.Sort(numbers)
	slices.Reverse(numbers)
	return numbers
}

func (r *catalogueRecord) activate(number uint64) {
	if r.Active != 0 && r.Active != number {
		r.Previous = append(r.Previous, r.Active)
	}
	r.Active = number
}

// recordMaxAge is how long a record that was read is taken for current.
const recordMaxAge = 500 * time.Millisecond

// cachedRecord is the newest record of a knowledge graph that this process has seen.
type cachedRecord struct {
	record catalogueRecord
	readAt time.Time
}

// current returns the record of a knowledge graph, no older than fresh. Nodes
// learn of a change at different times; an older record than the one already
// seen does not count. While no node answers, the last one seen does.
func (s *Store) current(ctx context.Context, kg string) (catalogueRecord, error) {
	if err := store.CheckName(kg); err != nil {
		return catalogueRecord{}, err
	}
	s.mutex.Lock()
	seen, ok := s.records[kg]
	s.mutex.Unlock()
	if ok && time.Since(seen.readAt) < recordMaxAge {
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
		return catalogueRecord{}, err
	}
	return s.remember(found), nil
}

// remember remembers a record, and returns the newest. Snapshots that are no longer in it were dropped, here or by
// another process: they are closed, and what of them is on this machine goes.
func (s *Store) remember(found catalogueRecord) catalogueRecord {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if seen, ok := s.records[found.KG]; ok && seen.record.Revision > found.Revision {
		found = seen.record
	}
	s.records[found.KG] = cachedRecord{found, time.Now()}
	for n, g := range s.open {
		if _, ok := found.find(n.number); n.kg == found.KG && !ok {
			s.letGo(n, g)
		}
	}
	return found
}

// readRecord reads a record and the collection it is kept in; consistent asks the raft leader.
func (s *Store) readRecord(ctx context.Context, kg string, consistent bool) (catalogueRecord, class, error) {
	def, err := s.cluster.readClass(ctx, recordName(s.home, kg), consistent)
	if errors.Is(err, errNoClass) {
		return catalogueRecord{}, nil, store.ErrNotFound
	}
	if err != nil {
		return catalogueRecord{}, nil, err
	}
	r, err := parseRecord(def)
	if err == nil && (r.KG != kg || r.Tenant != s.tenant) {
		err = fmt.Errorf("collection %v is the record of %q of tenant %q: %w", def["class"], r.KG, r.Tenant,
			store.ErrCorrupt)
	}
	return r, def, err
}

func parseRecord(def class) (catalogueRecord, error) {
	var r catalogueRecord
	text, _ := def["description"].(string)
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return catalogueRecord{},
			fmt.Errorf("the description of collection %v is not the record of a knowledge graph (%w): %w",
				def["class"], err, store.ErrCorrupt)
	}
	return r, nil
}

// change changes a record, or makes one if there is none, while no other process does.
func (s *Store) change(ctx context.Context, kg string, edit func(*catalogueRecord) error) (catalogueRecord, error) {
	if err := store.CheckName(kg); err != nil {
		return catalogueRecord{}, err
	}
	unlock, err := s.lock(ctx, kg)
	if err != nil {
		return catalogueRecord{}, err
	}
	defer unlock()
	r, def, err := s.readRecord(ctx, kg, true)
	if errors.Is(err, store.ErrNotFound) {
		r, def = catalogueRecord{KG: kg, Tenant: s.tenant, Next: 1, Revision: time.Now().UnixNano()}, nil
	} else if err != nil {
		return catalogueRecord{}, err
	}
	if err := edit(&r); err != nil {
		return catalogueRecord{}, err
	}
	r.Revision++
	text, err := json.Marshal(r)
	if err != nil {
		return catalogueRecord{}, fmt.Errorf("write the record of %s: %w", kg, err)
	}
	if def == nil {
		err = s.cluster.createClass(ctx, descriptionClass(recordName(s.home, kg), string(text)))
	} else {
		err = s.cluster.describe(ctx, def, string(text))
	}
	if err != nil {
		return catalogueRecord{}, fmt.Errorf("write the record of %s: %w", kg, err)
	}
	return s.remember(r), nil
}
