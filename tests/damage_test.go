package tests

import (
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc/codes"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

func TestADamagedSnapshotIsDataLossAndNothingElseIsLost(t *testing.T) {
	for _, c := range []struct {
		name, file string
		damage     func([]byte) []byte
	}{
		// A page's checksum is verified when it is first read: every question reads these.
		{"vectors with one bit flipped", "vectors.i8", flip},
		{"the name index with one bit flipped", "names.fst", flip},
		{"names with one bit flipped", "entities.text", flip},
		{"vectors cut short", "vectors.f32", half},
		{"edges cut short", "objects.triples", half},
		{"an empty file", "relations.text", func([]byte) []byte { return nil }},
		{"a manifest with one bit flipped", "manifest.json", flip},
		{"a manifest cut short", "manifest.json", half},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := graphs(t)
			file := filepath.Join(data, "kg", wikidata, "2", c.file)
			whole := own(t, file)
			m := start(t, options{model: scripted(t), data: data})
			ask := func(kg string, snapshot uint64) error {
				req := question("pg-akv")
				req.Kg = &graphv1.KnowledgeGraphRef{Name: kg, Snapshot: snapshot}
				_, err := m.orchestrator.Ask(timeoutContext(t, patience), req)
				return err
			}
			// The file is damaged while the retriever has it open.
			if err := ask(wikidata, 0); err != nil {
				t.Fatal(err)
			}
			overwrite(t, file, c.damage(append([]byte(nil), whole...)))

			checkStatus(t, ask(wikidata, 0), codes.DataLoss, wikidata+"@2")
			if got := m.listed(t, wikidata); len(got) != 2 {
				t.Errorf("of wikidata there are listed %v", got)
			}
			if err := ask(rivers, 0); err != nil {
				t.Errorf("another knowledge graph: %v", err)
			}
			if err := ask(wikidata, 1); err != nil {
				t.Errorf("the snapshot before: %v", err)
			}
			if _, err := m.graphs.RollbackKnowledgeGraph(timeoutContext(t, patience),
				&retrieverv1.RollbackKnowledgeGraphRequest{Kg: &graphv1.KnowledgeGraphRef{
					Name: wikidata}}); err != nil {
				t.Errorf("roll back: %v", err)
			}
			if run := m.ask(t, &orchestratorv1.AskRequest{Question: employerQuestion,
				Kg: &graphv1.KnowledgeGraphRef{Name: wikidata}}); names(run) != employer {
				t.Errorf("after rolling back the answer is %s", names(run))
			}
			if _, err := m.graphs.ActivateSnapshot(timeoutContext(t, patience),
				&retrieverv1.ActivateSnapshotRequest{Kg: &graphv1.KnowledgeGraphRef{Name: wikidata,
					Snapshot: 2}}); err == nil {
				t.Error("the damaged snapshot is active again")
			}
			overwrite(t, file, whole)
			if err := ask(wikidata, 2); err != nil {
				t.Errorf("after the file was put back: %v", err)
			}
		})
	}
}

// listed returns the numbers of a knowledge graph's snapshots.
func (r *running) listed(t *testing.T, kg string) (numbers []uint64) {
	t.Helper()
	resp, err := r.graphs.ListKnowledgeGraphs(timeoutContext(t, patience), &retrieverv1.ListKnowledgeGraphsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range resp.GetSnapshots() {
		if s.GetKg().GetName() == kg {
			numbers = append(numbers, s.GetKg().GetSnapshot())
		}
	}
	return numbers
}

func flip(data []byte) []byte {
	data[len(data)/2] ^= 4
	return data
}

func half(data []byte) []byte { return data[:len(data)/2] }

// own replaces a file that tests share through hard links with a copy, and returns its contents.
func own(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	overwrite(t, file, data)
	return data
}

// overwrite writes a file in place.
func overwrite(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
