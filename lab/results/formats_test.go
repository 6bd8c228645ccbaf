package results

import (
	"path/filepath"
	"testing"
)

func TestResultsThatAnEarlierVersionWroteAreRead(t *testing.T) {
	r, err := Open(filepath.Join("testdata", "versions", "format-3"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Len() != 2 || r.Manifest.Method != "pg-akv" || r.Manifest.KG != "wikidata" {
		t.Errorf("%d results of %+v", r.Len(), r.Manifest)
	}
	hits := 0.0
	for record, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		hits += record.Measures.Scores.Hit
	}
	if hits != 2 {
		t.Errorf("%v of two questions were answered right", hits)
	}
}
