package weaviate

import (
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

var dates = []string{
	"", "2014", "2014-04", "2014-04-05", "2014-04-05T10:00:00Z", "2015", "-0044", "-0044-03-15", "+2014-04",
	"12000", "2014-00-00",
	"2014-13", "2014-W07", "unknown", "14", "-", "2014-", "2014-4", "2014-04-", "20140405", "999999999999",
}

func TestTheServerFilterNeverHidesValidFacts(t *testing.T) {
	for _, start := range dates {
		for _, end := range dates {
			for _, at := range dates {
				checkServed(t, store.Validity{Start: start, End: end}, at)
			}
		}
	}
}

func FuzzTheServerNeverHidesWhatHolds(f *testing.F) {
	f.Add("2014-04-05", "2015", "2014")
	f.Add("-0044", "", "-0044-03")
	f.Add("2014-W07", "x", "2014-0")
	f.Fuzz(func(t *testing.T, start, end, at string) { checkServed(t, store.Validity{Start: start, End: end}, at) })
}

func checkServed(t *testing.T, v store.Validity, at string) {
	t.Helper()
	first, last, ok := dateRange(at)
	if !ok {
		return // the server is not asked
	}
	from, to := validityDays(v)
	if served := from <= last && to >= first; v.Covers(at) && !served {
		t.Errorf("what holds from %q to %q holds at %q, but the days are %d to %d, and %d to %d", v.Start, v.End, at,
			from, to, first, last)
	}
}

func TestDays(t *testing.T) {
	for date, want := range map[string][2]int64{
		"2014": {20140000, 20149999}, "2014-04": {20140400, 20140499}, "2014-04-05": {20140405, 20140405},
		"-0044": {-440000, -430001},
	} {
		if first, last, ok := dateRange(date); !ok || first != want[0] || last != want[1] {
			t.Errorf("%s is from %d to %d, %v", date, first, last, ok)
		}
	}
}
