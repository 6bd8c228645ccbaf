package mesh

import (
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/lab/profile"
)

func TestAMeasuredModelGetsTheSettingsThatSuitIt(t *testing.T) {
	o := options(t, map[string]string{"llm.model": "tiny-1b", "evaluator.llm.model": "judge",
		"verifier.llm.reader": "weak"})
	measured := profile.Choose("tiny-1b", profile.Measurement{Few: 1, Many: 1}, time.Now())
	if err := Profiles(o.Home).Save(measured); err != nil {
		t.Fatal(err)
	}
	o.Targets = []string{"generator", "evaluator", "verifier", "reflector"}
	o.Private = true
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.applyProfiles(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"generator": llm.StrongReader, "reflector": llm.StrongReader,
		"evaluator": llm.AutoReader, // another model
		"verifier":  llm.WeakReader} // set by hand
	for _, s := range m.stages {
		if s.llm.Reader != want[s.name] {
			t.Errorf("the %s takes its model for a %s reader, want %s", s.name, s.llm.Reader, want[s.name])
		}
	}
}
