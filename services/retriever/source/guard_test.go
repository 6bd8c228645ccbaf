package source_test

import (
	"errors"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/sourcetest"
)

func TestSinkGuardSeparatesSinkErrorsFromFileErrors(t *testing.T) {
	full, wrong := errors.New("full"), errors.New("wrong")
	var bad []string
	in := source.Input{Name: "f", Bad: func(e *source.PlaceError) error {
		bad = append(bad, e.Error())
		return nil
	}}
	g := source.NewSinkGuard(&sourcetest.Sink{})
	if err := errors.Join(g.Statement(source.Statement{}), g.Label("k", "n", 0), g.Alias("k", "n"),
		g.Reject(in, 1, nil), g.Reject(in, 2, wrong), g.Err()); err != nil {
		t.Error(err)
	}
	if len(bad) != 1 || bad[0] != "f:2: wrong" {
		t.Errorf("bad %q", bad)
	}
	for name, give := range map[string]func(*source.SinkGuard) error{
		"statement": func(g *source.SinkGuard) error { return g.Statement(source.Statement{}) },
		"label":     func(g *source.SinkGuard) error { return g.Label("k", "n", 0) },
		"alias":     func(g *source.SinkGuard) error { return g.Alias("k", "n") },
	} {
		g := source.NewSinkGuard(&sourcetest.Sink{Err: full})
		if err := give(g); !errors.Is(err, full) || !errors.Is(g.Reject(in, 3, err), full) ||
			!errors.Is(g.Err(), full) || len(bad) != 1 {
			t.Errorf("%s: %v, bad %q", name, err, bad)
		}
	}
	if err := source.NewSinkGuard(&sourcetest.Sink{}).Reject(source.Input{Name: "f"}, 4, wrong); err == nil ||
		err.Error() != "f:4: wrong" {
		t.Errorf("a bad line where none may be: %v", err)
	}
}
