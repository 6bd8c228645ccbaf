package nary

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/internal/graphtest"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

var offices = graphtest.New(
	[3]string{"m.0aaaa1", "government.position_held.from", "1839-10"},
	[3]string{"m.0aaaa1", "government.position_held.to", "1841"},
	[3]string{"m.0aaaa1", "government.position_held.title", "Governor"},
	[3]string{"m.0aaaa2", "start_date", "1845"}, [3]string{"m.0aaaa2", "start_date", "1844-12-04"},
	[3]string{"m.0aaaa2", "end time", "1849"}, [3]string{"m.0aaaa2", "end time", "1850"},
	[3]string{"m.0aaaa3", "moved.to", "Nashville"}, [3]string{"m.0aaaa3", "promoted_to", "1984"},
	[3]string{"m.0aaaa4", "until", "-0044-03-15"}, [3]string{"m.0aaaa4", "since", "1984-02-29T" + strings.Repeat("0", 60)},
)

func TestValidity(t *testing.T) {
	want := map[string]store.Validity{
		"m.0aaaa1": {Start: "1839-10", End: "1841"},
		"m.0aaaa2": {Start: "1844-12-04", End: "1850"},
		"m.0aaaa4": {End: "-0044-03-15"},
	}
	var mediators []store.EntityID
	for _, name := range []string{"m.0aaaa1", "m.0aaaa2", "m.0aaaa3", "m.0aaaa4"} {
		mediators = append(mediators, offices.ID(name))
	}
	valid, err := Validity(context.Background(), offices, mediators)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]store.Validity{}
	for m, v := range valid {
		got[offices.EntityName(m)] = v
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestNoMediatorsCostNothing(t *testing.T) {
	offices.EdgeReads = 0
	if valid, err := Validity(context.Background(), offices, nil); len(valid) != 0 || err != nil || offices.EdgeReads != 0 {
		t.Errorf("got %v, %v after %d reads", valid, err, offices.EdgeReads)
	}
}

type broken struct{ *graphtest.Graph }

var errDown = errors.New("store is down")

func (broken) Edges(context.Context, []store.EntityID, store.Direction, []store.RelationID) ([][]store.Edge, error) {
	return nil, errDown
}

func TestTheStoresErrorIsPassedOn(t *testing.T) {
	if _, err := Validity(context.Background(), broken{offices}, []store.EntityID{0}); !errors.Is(err, errDown) {
		t.Errorf("error %v, want %v", err, errDown)
	}
}

func TestBoundOf(t *testing.T) {
	tests := []struct {
		name, relation string
		want           bound
	}{
		{"a dotted beginning", "government.government_position_held.from", start},
		{"a beginning in words", "start time", start},
		{"an end with a date", "people.marriage.end_date", end},
		{"a joined name", "endDate", end},
		{"a destination is no end", "exported_to", none},
		{"a date of something else", "date of birth", none},
		{"both is neither", "from to", none},
		{"a date alone", "date", none},
		{"nothing", "", none},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := boundOf(tt.relation); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestIsDate(t *testing.T) {
	for name, want := range map[string]bool{
		"1984": true, "1984-02": true, "1984-02-29": true, "1984-02-29T12:00:00Z": true, "-0044": true, "+1984-01-01T00:00:00+01:00": true,
		"84": false, "1984-2": false, "2009 CPH:PIX": false, "": false, "1984-02-29T": false, "1984 ": false,
	} {
		if got := IsDate(name); got != want {
			t.Errorf("IsDate(%q) = %v", name, got)
		}
	}
}
