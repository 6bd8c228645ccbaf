package ground

import (
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// hits of subject 1: three middling, 2: one close, 3: two close, 4: four far.
var hits = []subjectHit{
	{1, .7}, {1, .75}, {1, .71}, {2, .95}, {3, .9}, {3, .8}, {4, .4}, {4, .4}, {4, .3}, {4, .5},
}

func entities[S any](subjects []S, id func(S) store.EntityID) []store.EntityID {
	var ids []store.EntityID
	for _, s := range subjects {
		ids = append(ids, id(s))
	}
	return ids
}

func TestPrune(t *testing.T) {
	tests := []struct {
		name           string
		rule           func([]subjectHit, int, float32) ([]rankedSubject, []droppedSubject)
		k              int
		minConfidence  float32
		kept           []store.EntityID
		selection, low []store.EntityID
	}{
		{"the paper selects by hits, then by mean cosine", prunePaper, 2, .7, []store.EntityID{1},
			[]store.EntityID{2, 3}, []store.EntityID{4}},
		{"the paper keeps what passes both steps, by falling confidence", prunePaper, 3, .7, []store.EntityID{3, 1},
			[]store.EntityID{2}, []store.EntityID{4}},
		{"the paper keeps none when the threshold is out of reach", prunePaper, 4, .99, nil, nil,
			[]store.EntityID{2, 3, 1, 4}},
		{"best hit keeps a subject for one close triple", pruneBest, 2, .6, []store.EntityID{2, 3},
			[]store.EntityID{1, 4}, nil},
		{"best hit drops by confidence inside the first k", pruneBest, 4, .6, []store.EntityID{2, 3, 1}, nil,
			[]store.EntityID{4}},
		{"a subject on the threshold stays", pruneBest, 4, .75, []store.EntityID{2, 3, 1}, nil, []store.EntityID{4}},
		{"k of 0 keeps none", pruneBest, 0, -1, nil, []store.EntityID{2, 3, 1, 4}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			kept, dropped := tt.rule(hits, tt.k, tt.minConfidence)
			if got := entities(kept, func(s rankedSubject) store.EntityID { return s.Entity }); !slices.Equal(got,
				tt.kept) {
				t.Errorf("kept %v, want %v", got, tt.kept)
			}
			for reason, want := range map[DropReason][]store.EntityID{OutsideSelection: tt.selection,
				LowConfidence: tt.low} {
				var got []store.EntityID
				for _, d := range dropped {
					if d.Reason == reason {
						got = append(got, d.Entity)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("dropped for reason %d: %v, want %v", reason, got, want)
				}
			}
		})
	}
}
