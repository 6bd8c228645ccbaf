package walk

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

var dated = storetest.NewGraph(
	[3]string{"m.0aaaa1", "government.position_held.from", "1839-10"},
	[3]string{"m.0aaaa1", "government.position_held.to", "1841"},
	[3]string{"m.0aaaa1", "government.position_held.title", "Governor"},
	[3]string{"m.0aaaa2", "start_date", "1845"}, [3]string{"m.0aaaa2", "start_date", "1844-12-04"},
	[3]string{"m.0aaaa2", "end time", "1849"}, [3]string{"m.0aaaa2", "end time", "1850"},
	[3]string{"m.0aaaa3", "moved.to", "Nashville"}, [3]string{"m.0aaaa3", "promoted_to", "1984"},
	[3]string{"m.0aaaa4", "until", "-0044-03-15"}, [3]string{"m.0aaaa4", "since", "1984-02-29T" +
		strings.Repeat("0", 60)},
)

func TestMediatorValidity(t *testing.T) {
	want := map[string]store.Validity{
		"m.0aaaa1": {Start: "1839-10", End: "1841"},
		"m.0aaaa2": {Start: "1844-12-04", End: "1850"},
		"m.0aaaa4": {End: "-0044-03-15"},
	}
	var mediators []store.EntityID
	for _, name := range []string{"m.0aaaa1", "m.0aaaa2", "m.0aaaa3", "m.0aaaa4"} {
		mediators = append(mediators, dated.ID(name))
	}
	valid, err := MediatorValidity(context.Background(), dated, mediators)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]store.Validity{}
	for m, v := range valid {
		got[dated.EntityName(m)] = v
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMediatorValidityOfNoMediatorsReadsNothing(t *testing.T) {
	dated.EdgeReads.Store(0)
	if valid, err := MediatorValidity(context.Background(), dated, nil); len(valid) != 0 || err != nil ||
		dated.EdgeReads.Load() != 0 {
		t.Errorf("got %v, %v after %d reads", valid, err, dated.EdgeReads.Load())
	}
}

func TestMediatorValidityReturnsStoreErrors(t *testing.T) {
	if _, err := MediatorValidity(context.Background(), brokenGraph{dated}, []store.EntityID{0}); !errors.Is(err,
		errDown) {
		t.Errorf("error %v, want %v", err, errDown)
	}
}

func TestParseTimeBound(t *testing.T) {
	tests := []struct {
		name, relation string
		want           timeBound
	}{
		{"a dotted beginning", "government.government_position_held.from", startBound},
		{"a beginning in words", "start time", startBound},
		{"an end with a date", "people.marriage.end_date", endBound},
		{"a joined name", "endDate", endBound},
		{"a destination is no end", "exported_to", noBound},
		{"a date of something else", "date of birth", noBound},
		{"both is neither", "from to", noBound},
		{"a date alone", "date", noBound},
		{"nothing", "", noBound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := parseTimeBound(tt.relation); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestIsDate(t *testing.T) {
	for name, want := range map[string]bool{
		"1984": true, "1984-02": true, "1984-02-29": true, "1984-02-29T12:00:00Z": true, "-0044": true,
		"+1984-01-01T00:00:00+01:00": true,
		"84":                         false, "1984-2": false, "2009 CPH:PIX": false, "": false, "1984-02-29T": false,
		"1984 ": false,
	} {
		if got := IsDate(name); got != want {
			t.Errorf("IsDate(%q) = %v", name, got)
		}
	}
}
