package store

import "testing"

func TestClassifyName(t *testing.T) {
	for name, want := range map[string]bool{
		"m.04j60kc": true, "g.11b6jbqm_w": true, "m.0hpz8tq": true, "m.010flwmg": true,
		"m.": false, "": false, "m.A.A.D": false, "James K. Polk": false, "m.i.a": false,
		"M.04j60kc": false, "m.04j60kc x": false, "g.spot": false, "m.0": false,
		"m.0123456789abcdefg": false, "m.04é60": false,
	} {
		if got := ClassifyName(name) == Mediator; got != want {
			t.Errorf("ClassifyName(%q) == Mediator = %v, want %v", name, got, want)
		}
	}
}
