package retriever

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/triplemesh/triplemesh/internal/auth"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// rankers chooses the rankers of knowledge graphs.
type rankers struct {
	// shipped is the ranker for graphs that have none of their own; may be nil.
	shipped *rank.Ranker
	// stored are the rankers of tenants; nil if there are none.
	stored *rankerStore
	// tenants are the knowledge graphs, sharedBy the tenant whose knowledge graphs all others read; zero
	// if there is none.
	tenants  store.Tenants
	sharedBy auth.Tenant
	log      *slog.Logger
	// refused are the rankers whose defect was logged, with it.
	refused sync.Map
	// coverage caches coversAny of the snapshot last asked about, by rankerSet.
	coverage sync.Map
}

// coverage is whether a ranker knows a relation of a snapshot.
type coverage struct {
	number  uint64
	created time.Time
	ranker  *rank.Ranker
	known   bool
}

// forSnapshot returns the ranker of a snapshot, nil if there is none for its encoder: the active one
// of the tenant, or of the tenant that shares the knowledge graph; if that cannot rank, the one that
// was active before; else the shipped one. A ranker that knows no relation of the snapshot covers
// none of its paths, so it is not returned: paths are explored further for a ranker.
func (r *rankers) forSnapshot(ctx context.Context, snap store.Snapshot) walk.Ranker {
	info := snap.Info()
	ranker := r.find(ctx, info)
	if ranker == nil {
		return nil
	}
	tenant, _ := auth.TenantFrom(ctx)
	set := rankerSet{tenant, info.KG}
	cached, _ := r.coverage.Load(set)
	c, ok := cached.(coverage)
	if !ok || c.number != info.Number || !c.created.Equal(info.Created) || c.ranker != ranker {
		c = coverage{info.Number, info.Created, ranker, coversAny(ranker, snap)}
		r.coverage.Store(set, c)
	}
	if !c.known {
		return nil
	}
	return ranker
}

// coversAny reports whether a ranker knows a relation of a snapshot.
func coversAny(ranker *rank.Ranker, snap store.Snapshot) bool {
	for id := range snap.Info().Relations {
		if ranker.CoversRelation(snap.RelationName(store.RelationID(id))) {
			return true
		}
	}
	return false
}

func (r *rankers) find(ctx context.Context, info store.Info) *rank.Ranker {
	tenant, err := auth.TenantFrom(ctx)
	if err == nil && r.stored != nil {
		ranker := r.findStored(ctx, rankerSet{tenant, info.KG}, info.Encoder)
		if ranker == nil && !r.sharedBy.IsZero() && tenant != r.sharedBy {
			ranker = r.findStored(ctx, rankerSet{r.sharedBy, info.KG}, info.Encoder)
			if ranker != nil && r.isOwn(ctx, info.KG) {
				ranker = nil
			}
		}
		if ranker != nil {
			return ranker
		}
	}
	if r.shipped == nil || !rank.ReadsShipped(r.shipped, info.Encoder) {
		return nil
	}
	return r.shipped
}

// isOwn reports whether the tenant has a knowledge graph of its own of this name.
func (r *rankers) isOwn(ctx context.Context, kg string) bool {
	graphs, err := store.ForRequest(ctx, r.tenants)
	if err != nil {
		return false
	}
	if over, ok := graphs.(interface{ Own() store.Store }); ok {
		graphs = over.Own()
	}
	_, err = graphs.List(ctx, kg)
	return err == nil
}

func (r *rankers) findStored(ctx context.Context, set rankerSet, encoder string) *rank.Ranker {
	c, err := r.stored.current(set)
	if err != nil {
		r.logOnce(ctx, set, 0, err)
		return nil
	}
	if c.Active == 0 {
		return nil
	}
	for _, number := range slices.Backward(append(c.Previous, c.Active)) {
		ranker, err := r.stored.load(set, number)
		if err == nil {
			err = checkEncoder(ranker.Weights(), encoder)
		}
		if err == nil {
			return ranker
		}
		r.logOnce(ctx, set, number, err)
	}
	return nil
}

// checkEncoder refuses weights for another encoder.
func checkEncoder(w *rank.Weights, encoder string) error {
	if w.Encoder != encoder {
		return fmt.Errorf("it reads vectors of the encoder %q, the knowledge graph has those of %q; train it again",
			w.Encoder, encoder)
	}
	return nil
}

// logOnce logs a defect of a ranker unless it was the last one logged of it: every question meets it.
func (r *rankers) logOnce(ctx context.Context, set rankerSet, number uint64, defect error) {
	key := fmt.Sprintf("%s/%s/%d", set.tenant, set.kg, number)
	if last, _ := r.refused.Swap(key, defect.Error()); last != defect.Error() {
		r.log.WarnContext(ctx, logRankerRefused, "tenant", set.tenant.String(), "kg", set.kg, "ranker", number,
			"error", defect)
	}
}

// pathFeatures converts what a ranker reads.
func pathFeatures(q *rank.Question, encoder string) *retrieverv1.PathFeatures {
	f := &retrieverv1.PathFeatures{ValueNames: rank.ValueNames[:], QuestionVector: q.Vector, Encoder: encoder}
	for _, r := range q.Relations {
		f.Relations = append(f.Relations, &retrieverv1.RelationVector{Relation: r.Name, Vector: r.Vector})
	}
	for i := range q.Paths {
		p := &q.Paths[i]
		c := &retrieverv1.CandidatePath{Values: p.Values[:]}
		for _, s := range p.Steps {
			c.Steps = append(c.Steps, uint32(s))
		}
		for _, s := range p.Profile {
			c.ProfileRelations = append(c.ProfileRelations, uint32(s.Relation))
			c.ProfileShares = append(c.ProfileShares, s.Share)
		}
		f.Candidates = append(f.Candidates, c)
	}
	return f
}
