package walk

import (
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/nary"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// collect turns the arrivals of a plan's last step into walks, those of each
// of its topic entities together.
func (p *pass) collect(end int32, topics []store.EntityID) ([]Walk, error) {
	n := &p.trie.nodes[end]
	last := p.last[:0]
	for i, topic := range topics {
		if slices.Contains(topics[:i], topic) {
			continue
		}
		began := len(last)
		for at := n.first; at < n.last; at++ {
			if a := &p.arrivals[at]; a.topic == topic && p.snap.Kind(a.entity) != store.Mediator {
				last = append(last, at)
			}
		}
		kept, err := p.choose(last[began:])
		if err != nil {
			return nil, err
		}
		if len(kept) > p.left.walks {
			kept, p.truncated = kept[:p.left.walks], true
		}
		p.left.walks -= len(kept)
		last = append(last[:began], kept...)
	}
	p.last = last
	if len(last) == 0 {
		return nil, nil
	}
	return p.trace(last), nil
}

// trace reads walks of one plan back from their last hops. They share one
// piece of memory.
func (p *pass) trace(last []int32) []Walk {
	passed := 1
	for at := last[0]; at >= 0; at = p.arrivals[at].from {
		passed++
	}
	walks := make([]Walk, len(last))
	all := make([]store.EntityID, passed*len(last))
	for i, at := range last {
		entities := all[i*passed : (i+1)*passed : (i+1)*passed]
		entities[0] = p.arrivals[at].topic
		for to := passed - 1; at >= 0; at = p.arrivals[at].from {
			entities[to] = p.arrivals[at].entity
			to--
		}
		walks[i].Entities = entities
	}
	return walks
}

// date fills in when walks hold that pass mediators.
func (p *pass) date(walks [][]Walk) error {
	mediators := p.entities[:0]
	for _, of := range walks {
		for _, w := range of {
			for _, e := range w.Entities[1 : len(w.Entities)-1] {
				if p.snap.Kind(e) == store.Mediator {
					mediators = append(mediators, e)
				}
			}
		}
	}
	p.entities = mediators
	slices.Sort(mediators)
	valid, err := nary.Validity(p.ctx, p.snap, slices.Compact(mediators))
	if err != nil || len(valid) == 0 {
		return err
	}
	for _, of := range walks {
		for i := range of {
			for _, e := range of[i].Entities {
				if v, ok := valid[e]; ok {
					of[i].Validity = &v
				}
			}
		}
	}
	return nil
}
