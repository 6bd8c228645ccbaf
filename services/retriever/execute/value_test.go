package execute_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/execute"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func TestWhatBeginsWithANumberMayBeAName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"12": true, "12 m": true, "20 mg": true, "7 wugs": true, "1990-04": true,
		"9 people per km²": true, "12 Elm Road": false, "3 Harbour Lane": false, "Orla": false} {
		if got := execute.Comparable(text, store.Text); got != want {
			t.Errorf("%q can be compared: %v", text, got)
		}
	}
}
