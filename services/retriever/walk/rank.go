package walk

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// Limits on what a ranker reads.
const (
	// maxRanked is the maximum number of candidates, chosen by their rough scores.
	maxRanked = 96
	// maxProfiled is the number of ends of a path whose relations are read, maxShares the number of
	// relations of a profile.
	maxProfiled, maxShares = 12, 24
	// maxDegreeEnds is the number of ends whose degrees are averaged.
	maxDegreeEnds = 20
)

// Ranker gives paths their probabilities.
type Ranker interface {
	// Covers reports whether it was trained for paths with these steps; only they are set.
	Covers(*rank.Question) bool
	// Probabilities returns one per path; the rest of 1 is that of none.
	Probabilities(*rank.Question) ([]float32, error)
}

// Candidates are the paths of a question as a ranker reads them, before any is left out.
type Candidates struct {
	// Paths have their rough scores.
	Paths []Suggestion
	// Question describes them in the same order.
	Question *rank.Question
}

// ListCandidates returns what a ranker is trained on.
func ListCandidates(ctx context.Context, snap Snapshot, encoder Encoder, req SuggestRequest) (*Candidates, error) {
	aim, err := newAim(ctx, snap, encoder, req)
	if err != nil {
		return nil, err
	}
	prospects, err := explore(ctx, snap, aim, req.Topics, req.MaxHops, maxFinalists)
	if err != nil {
		return nil, err
	}
	prospects = distinctProspects(prospects)
	d := newDescriber(snap, aim, req, prospects)
	if err := d.describe(ctx); err != nil {
		return nil, err
	}
	c := &Candidates{Question: d.question}
	for _, p := range prospects {
		c.Paths = append(c.Paths, p.suggestion())
	}
	return c, nil
}

// rankProspects sets the probabilities and the order of prospects if the ranker knows the graph, and
// reports whether it did. Probabilities are together 1, as if one path led to the answers; scores
// are so only as far as one does.
func rankProspects(ctx context.Context, snap Snapshot, aim *aim, req SuggestRequest,
	prospects []*prospect) (ranked []*prospect, ok bool, err error) {
	if req.Ranker == nil || len(prospects) == 0 {
		return nil, false, nil
	}
	ranked = distinctProspects(prospects)
	d := newDescriber(snap, aim, req, ranked)
	if !req.Ranker.Covers(d.question) {
		return nil, false, nil
	}
	if err := d.describe(ctx); err != nil {
		return nil, false, err
	}
	probabilities, err := req.Ranker.Probabilities(d.question)
	if err != nil {
		return nil, false, err
	}
	turnPassive(snap, req.Question, ranked, probabilities)
	sum, answered := float32(math.SmallestNonzeroFloat32), float32(0)
	for i, p := range ranked {
		answered += probabilities[i]
		if at := slices.Index(req.Topics, p.topic); req.TopicScores != nil {
			probabilities[i] *= req.TopicScores[at]
		}
		sum += probabilities[i]
	}
	for i, p := range ranked {
		probabilities[i] /= sum
		p.score, p.probability = probabilities[i]*answered, &probabilities[i]
	}
	slices.SortFunc(ranked, compareProspects)
	return ranked, true, nil
}

// turnPassive gives the probability of a passive step that the question says the other way round to that other way, if
// the topic entity has it: what a ranker reads of a relation does not tell who influenced A from whom A influenced.
func turnPassive(snap Snapshot, question string, prospects []*prospect, probabilities []float32) {
	for i, p := range prospects {
		step := p.steps[0]
		if len(p.steps) > 1 || !kgtext.IsTurned(question, snap.EntityName(p.topic), &graphv1.RelationStep{
			Relation: snap.RelationName(step.Relation), Inverse: step.Inverse}) {
			continue
		}
		other := slices.IndexFunc(prospects, func(o *prospect) bool {
			return o.topic == p.topic && slices.Equal(o.steps, []Step{step.Reverse()})
		})
		if other >= 0 {
			probabilities[i], probabilities[other] = 0, probabilities[i]+probabilities[other]
		}
	}
}

// distinctProspects returns the best prospects of each topic entity and set of ends.
func distinctProspects(prospects []*prospect) []*prospect {
	prospects = slices.Clone(prospects)
	slices.SortFunc(prospects, compareProspects)
	seen := map[string]bool{}
	prospects = slices.DeleteFunc(prospects, func(p *prospect) bool {
		key := p.key()
		again := seen[key]
		seen[key] = true
		return again
	})
	return prospects[:min(len(prospects), maxRanked)]
}

// describer collects what a ranker reads of the candidates of a question.
type describer struct {
	snap      Snapshot
	aim       *aim
	req       SuggestRequest
	prospects []*prospect
	// indexes are those of relations in question.Relations.
	indexes  map[store.RelationID]int
	question *rank.Question
	// profiles caches the relations around entities, around is memory of profile.
	profiles map[store.EntityID][]store.RelationID
	around   []store.RelationID
	// topics is the number of topic entities.
	topics int
}

// newDescriber describes the steps of prospects, which is all that Ranker.Covers reads.
func newDescriber(snap Snapshot, aim *aim, req SuggestRequest, prospects []*prospect) *describer {
	d := &describer{snap: snap, aim: aim, req: req, prospects: prospects, indexes: map[store.RelationID]int{},
		question: &rank.Question{Vector: aim.unnamed, Paths: make([]rank.Path, len(prospects))},
		profiles: map[store.EntityID][]store.RelationID{}}
	for i, p := range prospects {
		for _, step := range p.steps {
			d.question.Paths[i].Steps = append(d.question.Paths[i].Steps, d.index(step.Relation))
		}
	}
	return d
}

// describe adds the values and profiles.
func (d *describer) describe(ctx context.Context) (err error) {
	var shared []sharing
	shared, d.topics = shareEnds(d.prospects)
	for i, p := range d.prospects {
		path := &d.question.Paths[i]
		path.Values = d.values(p, shared[i])
		if path.Profile, err = d.profile(ctx, p); err != nil {
			return err
		}
	}
	rank.CompareWithBest(d.question.Paths)
	return nil
}

func (d *describer) index(relation store.RelationID) int {
	i, ok := d.indexes[relation]
	if !ok {
		i = len(d.question.Relations)
		d.indexes[relation] = i
		d.question.Relations = append(d.question.Relations,
			rank.Relation{Name: d.snap.RelationName(relation), Vector: d.snap.RelationVector(relation)})
	}
	return i
}

// values computes the values of a path, except those that compare it with the best of all.
func (d *describer) values(p *prospect, shared sharing) (v rank.Values) {
	sum := p.sum(d.snap)
	v[rank.Words], v[rank.Cosine], v[rank.CosineNamed] = p.fit, cosine(d.aim.unnamed, sum), cosine(d.aim.named, sum)
	v[rank.Ends], v[rank.Reach], v[rank.Ways] = log1p(len(p.ends)), log1p(len(p.reach)), p.ways
	v[rank.SingleEnd], v[rank.DatesAsked] = indicator(len(p.ends) == 1), d.aim.dateBonus(d.snap, p)
	v[rank.Facts], v[rank.Steps] = float32(p.hops), float32(len(p.steps))
	v[rank.InverseFirst] = indicator(p.steps[0].Inverse)
	v[rank.InverseLast] = indicator(p.steps[len(p.steps)-1].Inverse)
	v[rank.Topics], v[rank.TopicPlace] = float32(d.topics), float32(slices.Index(d.req.Topics, p.topic))
	if mention, mentioned := d.aim.mentions[p.topic]; mentioned {
		v[rank.TopicNamed], v[rank.TopicWords] = 1, float32(mention.words())
	}
	v[rank.LeastCosine] = 1
	for i, step := range p.steps {
		c := vector.Dot(d.aim.unnamed, d.snap.RelationVector(step.Relation))
		if i == 0 {
			v[rank.FirstCosine] = c
		} else if step == p.steps[i-1].Reverse() {
			v[rank.Undone]++
		} else if step == p.steps[i-1] {
			v[rank.Repeated]++
		}
		v[rank.LastCosine], v[rank.LeastCosine] = c, min(v[rank.LeastCosine], c)
		v[rank.MeanCosine] += c / float32(len(p.steps))
		v[rank.Inverse] += indicator(step.Inverse)
	}
	degree := 0
	for i, e := range p.ends {
		if i < maxDegreeEnds {
			degree += d.snap.Degree(e, store.Out) + d.snap.Degree(e, store.In)
		}
		switch d.snap.Kind(e) {
		case store.Text:
			v[rank.Texts]++
		case store.Date:
			v[rank.Dates]++
		case store.Number, store.Quantity:
			v[rank.Numbers]++
		}
	}
	v[rank.Shared], v[rank.SharedScore] = float32(shared.ends), shared.score
	for _, share := range []int{rank.Texts, rank.Dates, rank.Numbers, rank.Shared} {
		v[share] /= float32(max(1, len(p.ends)))
	}
	v[rank.Degree] = log1p(degree / max(1, min(maxDegreeEnds, len(p.ends))))
	return v
}

// profile returns the relations around a path's first ends, those with the greatest shares: what they
// are by what is said of them.
func (d *describer) profile(ctx context.Context, p *prospect) ([]rank.Share, error) {
	ends := p.ends[:min(maxProfiled, len(p.ends))]
	around := d.around[:0]
	for _, e := range ends {
		relations, ok := d.profiles[e]
		if !ok {
			for _, dir := range []store.Direction{store.Out, store.In} {
				counts, err := d.snap.Relations(ctx, e, dir)
				if err != nil {
					return nil, err
				}
				for _, c := range counts {
					relations = append(relations, c.Relation)
				}
			}
			d.profiles[e] = relations
		}
		around = append(around, relations...)
	}
	slices.Sort(around)
	d.around = around
	profile := []rank.Share{}
	for i, r := range around {
		if i == 0 || r != around[i-1] {
			profile = append(profile, rank.Share{Relation: int(r)})
		}
		profile[len(profile)-1].Share += 1 / float32(len(ends))
	}
	slices.SortStableFunc(profile, func(a, b rank.Share) int { return cmp.Compare(b.Share, a.Share) })
	profile = profile[:min(len(profile), maxShares)]
	for i := range profile {
		profile[i].Relation = d.index(store.RelationID(profile[i].Relation))
	}
	return profile, nil
}

// cosine returns the cosine of a unit vector to one of any length.
func cosine(unit, v []float32) float32 {
	length := float32(math.Sqrt(float64(vector.Dot(v, v))))
	if length == 0 {
		return 0
	}
	return vector.Dot(unit, v) / length
}

func log1p(n int) float32 { return float32(math.Log1p(float64(n))) }

func indicator(b bool) float32 {
	if b {
		return 1
	}
	return 0
}
