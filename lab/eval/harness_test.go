package eval

import (
	"syscall"
	"testing"

	"github.com/triplemesh/triplemesh/lab/results"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func testManifest() results.Manifest {
	return results.Manifest{
		Format: results.Format, Version: "v1", Dataset: results.Dataset{Name: "q", Path: "q.jsonl", SHA256: "abc"},
		KG: "wikidata", Method: "pg-akv", Seed: 1,
	}
}

func mustResume(t *testing.T, dir string) *results.Journal {
	t.Helper()
	j, err := results.Resume(dir, testManifest())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func newRun(answers ...string) *orchestratorv1.Run {
	run := &orchestratorv1.Run{}
	for _, a := range answers {
		run.Answers = append(run.Answers, &orchestratorv1.Answer{Answer: a})
	}
	return run
}

// fullDisk is a journal on a disk that has no room left.
type fullDisk struct{ *results.Journal }

func (fullDisk) Add(results.Line) error { return syscall.ENOSPC }
