package embedded

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// holder is an entity and a key that names it.
type holder struct {
	key    string
	entity uint32
}

// writeNames writes the name index: the folded names and aliases, whom they
// name, and their trigrams.
func writeNames(f *folder, c gathered) error {
	holders := make([]holder, 0, len(c.Entities)+len(c.Aliases))
	for i, name := range c.Entities {
		holders = append(holders, holder{store.Fold(name), uint32(i)})
	}
	for _, a := range c.Aliases {
		holders = append(holders, holder{store.Fold(a.Name), uint32(a.Entity)})
	}
	slices.SortFunc(holders, func(a, b holder) int {
		if order := strings.Compare(a.key, b.key); order != 0 {
			return order
		}
		return int(int64(a.entity) - int64(b.entity))
	})
	holders = slices.Compact(holders)

	var keys []string
	var entities, offsets []uint32
	for i, h := range holders {
		if i == 0 || h.key != holders[i-1].key {
			keys = append(keys, h.key)
			offsets = append(offsets, uint32(len(entities)))
		}
		entities = append(entities, h.entity)
	}
	offsets = append(offsets, uint32(len(entities)))
	if err := writeTexts(f, keysFile, keys); err != nil {
		return err
	}
	if err := writeLists(f, holdersFile, entities, offsets); err != nil {
		return err
	}
	return writeTrigrams(f, keys)
}

func writeTrigrams(f *folder, keys []string) error {
	sizes := make([]uint32, len(keys))
	postings := map[store.Trigram][]uint32{}
	total := 0
	for i, key := range keys {
		grams := store.Trigrams(key)
		sizes[i] = uint32(len(grams))
		total += len(grams)
		for _, g := range grams {
			postings[g] = append(postings[g], uint32(i))
		}
	}
	if uint64(total) >= 1<<32 {
		return fmt.Errorf("%d trigrams are more than 32 bits number: %w", total, store.ErrInvalid)
	}
	grams := make([]store.Trigram, 0, len(postings))
	for g := range postings {
		grams = append(grams, g)
	}
	slices.Sort(grams)
	flat := make([]uint32, 0, total)
	offsets := make([]uint32, 1, len(grams)+1)
	for _, g := range grams {
		flat = append(flat, postings[g]...)
		offsets = append(offsets, uint32(len(flat)))
	}
	if err := writeColumn(f, gramSizesFile, sizes); err != nil {
		return err
	}
	if err := writeColumn(f, gramsFile, grams); err != nil {
		return err
	}
	return writeLists(f, gramKeysFile, flat, offsets)
}

// EntityName implements store.Names.
func (s *snapshot) EntityName(id store.EntityID) string {
	return strings.Clone(s.entities.view(uint32(id)))
}

// RelationName implements store.Names.
func (s *snapshot) RelationName(id store.RelationID) string {
	return strings.Clone(s.relations.view(uint32(id)))
}

// RelationTriples implements store.Names.
func (s *snapshot) RelationTriples(id store.RelationID) int { return int(s.counts[id]) }

// Entity implements store.Names.
func (s *snapshot) Entity(_ context.Context, name string) (id store.EntityID, ok bool, err error) {
	err = guard(func() error {
		var i uint32
		i, ok = s.entities.find(name)
		id = store.EntityID(i)
		return nil
	})
	return id, ok, s.wrap("read", err)
}

// Relation implements store.Names.
func (s *snapshot) Relation(_ context.Context, name string) (id store.RelationID, ok bool, err error) {
	err = guard(func() error {
		var i uint32
		i, ok = s.relations.find(name)
		id = store.RelationID(i)
		return nil
	})
	return id, ok, s.wrap("read", err)
}

// Match implements store.Names.
func (s *snapshot) Match(_ context.Context, key string) (found []store.EntityID, err error) {
	err = guard(func() error {
		if i, ok := s.keys.find(key); ok {
			for _, e := range s.holders.row(i) {
				found = append(found, store.EntityID(e))
			}
		}
		return nil
	})
	return found, s.wrap("read", err)
}

// Fuzzy implements store.Names.
func (s *snapshot) Fuzzy(ctx context.Context, key string, minSimilarity float32, limit int) (found []store.NameMatch, err error) {
	if limit <= 0 {
		return nil, nil
	}
	err = guard(func() error {
		common, err := s.countCommon(ctx, store.Trigrams(key))
		if err != nil {
			return err
		}
		size := len(store.Trigrams(key))
		best := map[uint32]float32{}
		for k, n := range common {
			similarity := store.DiceOf(int(n), size, int(s.gramSizes[k]))
			if similarity < minSimilarity {
				continue
			}
			for _, e := range s.holders.row(k) {
				best[e] = max(best[e], similarity)
			}
		}
		for e, similarity := range best {
			found = append(found, store.NameMatch{Entity: store.EntityID(e), Similarity: similarity})
		}
		return nil
	})
	sort.Slice(found, func(i, j int) bool {
		if found[i].Similarity != found[j].Similarity {
			return found[i].Similarity > found[j].Similarity
		}
		return found[i].Entity < found[j].Entity
	})
	return found[:min(limit, len(found))], s.wrap("read", err)
}

// countCommon counts for each key how many of the trigrams it holds.
func (s *snapshot) countCommon(ctx context.Context, grams []store.Trigram) (map[uint32]uint32, error) {
	common := map[uint32]uint32{}
	for _, g := range grams {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i, ok := slices.BinarySearch(s.grams, g); ok {
			for _, k := range s.gramKeys.row(uint32(i)) {
				common[k]++
			}
		}
	}
	return common, nil
}
