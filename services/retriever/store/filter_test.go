package store

import "testing"

func TestValidityCovers(t *testing.T) {
	tests := []struct {
		name       string
		start, end string
		at         string
		want       bool
	}{
		{"no validity always holds", "", "", "2014", true},
		{"within", "2001-03-25", "2014-04-04", "2010", true},
		{"on the first day", "2014-04-05", "", "2014-04-05", true},
		{"a day before", "2014-04-05", "", "2014-04-04", false},
		{"the year it began", "2014-04-05", "", "2014", true},
		{"the year it ended", "", "2014-04-04", "2014", true},
		{"a day after it ended", "", "2014-04-04", "2014-04-05", false},
		{"a year before", "2014", "", "2013-12-31", false},
		{"before Christ, in order", "-0753", "-0509", "-0600", true},
		{"before Christ, too late", "-0753", "-0509", "-0500", false},
		{"open before", "", "1900", "-0500", true},
		{"five digits", "10000", "", "9999", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := (Validity{tt.start, tt.end}).Covers(tt.at); got != tt.want {
				t.Errorf("[%s, %s] holds at %s: %v, want %v", tt.start, tt.end, tt.at, got, tt.want)
			}
		})
	}
}
