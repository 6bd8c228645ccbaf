package walk

import (
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// collect turns the arrivals of a plan's last step into walks, grouped by topic entity.
func (p *pass) collect(end int32, topics []store.EntityID) ([]Walk, error) {
	n := &p.trie.nodes[end]
	last := p.lastHops[:0]
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
		kept, err := p.selectWalks(last[began:])
		if err != nil {
			return nil, err
		}
		if len(kept) > p.remaining.walks {
			kept, p.truncated = kept[:p.remaining.walks], true
		}
		p.remaining.walks -= len(kept)
		last = append(last[:began], kept...)
	}
	p.lastHops = last
	if len(last) == 0 {
		return nil, nil
	}
	return p.trace(last), nil
}

// trace reconstructs the walks of one plan from their last hops. They share one allocation.
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

// fillValidity sets the validity of walks over mediators.
func (p *pass) fillValidity(walks [][]Walk) error {
	mediators := p.entities[:0]
	for _, list := range walks {
		for _, w := range list {
			for _, e := range w.Entities[1 : len(w.Entities)-1] {
				if p.snap.Kind(e) == store.Mediator {
					mediators = append(mediators, e)
				}
			}
		}
	}
	p.entities = mediators
	slices.Sort(mediators)
	valid, err := MediatorValidity(p.ctx, p.snap, slices.Compact(mediators))
	if err != nil || len(valid) == 0 {
		return err
	}
	for _, list := range walks {
		for i := range list {
			for _, e := range list[i].Entities {
				if v, ok := valid[e]; ok {
					list[i].Validity = &v
				}
			}
		}
	}
	return nil
}
