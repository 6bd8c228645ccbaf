package claims

import (
	"math/rand/v2"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/lab/stats"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// Figures are how good verdicts are.
type Figures struct {
	// Claims is how many were checked, Failed how many could not be.
	Claims int `json:"claims"`
	Failed int `json:"failed"`
	// Read is how many claims were read off the sentences, Alarms how many of them are contradicted and say
	// nothing of a seeded error.
	Read   int `json:"read"`
	Alarms int `json:"alarms"`
	// Accuracy is the share of right verdicts.
	Accuracy stats.Interval `json:"accuracy"`
	// Verdicts are precision, recall and F1 of each.
	Verdicts []VerdictFigures `json:"verdicts"`
	// Kinds are the shares of right verdicts of each kind of claim.
	Kinds []KindFigures `json:"kinds"`
}

// VerdictFigures are those of one verdict.
type VerdictFigures struct {
	Verdict   string         `json:"verdict"`
	Precision stats.Interval `json:"precision"`
	Recall    stats.Interval `json:"recall"`
	F1        stats.Interval `json:"f1"`
}

// KindFigures are those of one kind of claim.
type KindFigures struct {
	Kind  string         `json:"kind"`
	Gold  string         `json:"gold"`
	Right stats.Interval `json:"right"`
}

// Measure compares verdicts with those that claims should get.
func Measure(results []Result, resamples int, seed int64) Figures {
	f := Figures{Claims: len(results)}
	right := make([]float64, len(results))
	for i, r := range results {
		if r.Error != "" {
			f.Failed++
		}
		if r.Said == r.Gold {
			right[i] = 1
		}
		f.Alarms += len(r.Alarms)
		f.Read += r.Read
	}
	topics := make([]string, len(results))
	for i, r := range results {
		if topics[i] = r.Topic; r.Topic == "" {
			topics[i] = r.ID
		}
	}
	f.Accuracy = stats.BootstrapClusters(right, topics, resamples, seed)
	for _, v := range []verifierv1.Verdict{
		verifierv1.Verdict_VERDICT_SUPPORTED, verifierv1.Verdict_VERDICT_CONTRADICTED,
		verifierv1.Verdict_VERDICT_NOT_IN_KG,
	} {
		f.Verdicts = append(f.Verdicts, ofVerdict(results, topics, v, resamples, seed))
	}
	for _, k := range kinds {
		var own []float64
		var of []string
		for i, r := range results {
			if r.Kind == k.name {
				own, of = append(own, right[i]), append(of, topics[i])
			}
		}
		if len(own) > 0 {
			f.Kinds = append(f.Kinds, KindFigures{Kind: k.name, Gold: config.EnumName(k.gold),
				Right: stats.BootstrapClusters(own, of, resamples, seed)})
		}
	}
	return f
}

// counts are what precision and recall are made of.
type counts struct{ both, said, gold float64 }

func (c counts) precision() float64 { return share(c.both, c.said) }
func (c counts) recall() float64    { return share(c.both, c.gold) }
func (c counts) f1() float64        { return share(2*c.both, c.said+c.gold) }

func share(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// ofVerdict resamples claims, those of one topic together, and not their figures: these are ratios of sums.
func ofVerdict(results []Result, topics []string, v verifierv1.Verdict, resamples int, seed int64) VerdictFigures {
	var one []counts
	place := make(map[string]int)
	for i, r := range results {
		at, seen := place[topics[i]]
		if !seen {
			at, place[topics[i]] = len(one), len(one)
			one = append(one, counts{})
		}
		c := &one[at]
		if r.Said == v {
			c.said++
		}
		if r.Gold == v {
			c.gold++
		}
		if r.Said == v && r.Gold == v {
			c.both++
		}
	}
	over := func(figure func(counts) float64) stats.Interval {
		return stats.BootstrapOf(len(one), resamples, seed, func(random *rand.Rand) float64 {
			var sum counts
			for i := range one {
				c := one[i]
				if random != nil {
					c = one[random.IntN(len(one))]
				}
				sum.both, sum.said, sum.gold = sum.both+c.both, sum.said+c.said, sum.gold+c.gold
			}
			return figure(sum)
		})
	}
	return VerdictFigures{Verdict: config.EnumName(v), Precision: over(counts.precision), Recall: over(counts.recall),
		F1: over(counts.f1)}
}
