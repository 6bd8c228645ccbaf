//go:build versions

package versions

import (
	"slices"
	"testing"
)

// TestTheVersionBeforeReadsWhatThisOneWrote rolls back to a version on the files of this one:
// knowledge graphs that were loaded and switched, and runs.
func TestTheVersionBeforeReadsWhatThisOneWrote(t *testing.T) {
	now := checkout(t)
	for _, old := range previous(t) {
		t.Run(old.name, func(t *testing.T) {
			at := data(t, now)
			m := start(t, now, at, scripted(t))
			load(t, m.addr("retriever", 0), wikidata, slices.Concat(facts(t), []byte("Velmora\triver\tTessen\n")))
			_, written := supportedKinds(t, m)
			m.stop(t)

			back := start(t, old, at, scripted(t))
			there, read := supportedKinds(t, back)
			for _, k := range there {
				if k.name != "run" && read[k.name] != written[k.name] {
					t.Errorf("%s: %s", k.name, difference(read[k.name], written[k.name]))
				}
			}
			back.stop(t)

			again := start(t, now, at, scripted(t))
			if _, answers := supportedKinds(t, again); answers["pg-akv"] != written["pg-akv"] {
				t.Errorf("there again: %s", difference(answers["pg-akv"], written["pg-akv"]))
			}
			again.stop(t)
		})
	}
}
