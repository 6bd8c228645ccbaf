package eval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/lab/results"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// takeOn adds to a manifest what a run tells of the evaluation. A run of other
// snapshots or other models than those before does not belong to it.
func takeOn(m *results.Manifest, run *orchestratorv1.Run) error {
	if err := takeOnSnapshot(&m.Snapshot, m.KG, run.GetKg()); err != nil {
		return err
	}
	m.OtherKGs = slices.Clone(m.OtherKGs)
	for i, kg := range m.OtherKGs {
		for _, read := range run.GetOtherKgs() {
			if read.GetName() == kg.Name {
				if err := takeOnSnapshot(&m.OtherKGs[i].Snapshot, kg.Name, read); err != nil {
					return err
				}
			}
		}
	}
	models := run.GetUsage().GetModels()
	// A run with a reader may have called no model besides it.
	now, before := removeModel(models, m.Reader), removeModel(m.Models, m.Reader)
	if len(now) > 0 && len(before) > 0 && !slices.ContainsFunc(now,
		func(model string) bool { return slices.Contains(before, model) }) {
		return fmt.Errorf("it was answered by %s, and those before by %s: configure the same model, or choose "+
			"another --out",
			strings.Join(now, " and "), strings.Join(before, " and "))
	}
	m.Models = slices.Clone(m.Models)
	for _, model := range models {
		if !slices.Contains(m.Models, model) {
			m.Models = append(m.Models, model)
		}
	}
	return nil
}

func removeModel(models []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(models), func(model string) bool { return model == name })
}

func takeOnSnapshot(pinned *uint64, kg string, read *graphv1.KnowledgeGraphRef) error {
	switch snapshot := read.GetSnapshot(); {
	case snapshot == 0 || snapshot == *pinned:
		return nil
	case *pinned == 0:
		*pinned = snapshot
		return nil
	default:
		return fmt.Errorf("it read snapshot %d of %s and not %d, as it was told; update the services",
			snapshot, kg, *pinned)
	}
}
