package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestResultsOfAnotherEvaluationAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*Manifest)
		want   string
	}{
		{"another format", func(m *Manifest) { m.Format = 2 }, "the format is 1 there and 2 here"},
		{"another version", func(m *Manifest) { m.Version = "v2" }, "the version is v1 there and v2 here"},
		{"other questions", func(m *Manifest) { m.DatasetSHA256 = "def" }, "the checksum of the questions is abc there and def here"},
		{"another knowledge graph", func(m *Manifest) { m.KG = "" }, "--kg is wikidata there and not given here"},
		{"another snapshot", func(m *Manifest) { m.Snapshot = 4 }, "the snapshot is 3 there and 4 here"},
		{"another method", func(m *Manifest) { m.Method = "io" }, "--method is pg-akv there and io here"},
		{"another last stage", func(m *Manifest) { m.Options.Until = "verify" }, "--until is not given there and verify here"},
		{"another verification", func(m *Manifest) { m.Options.Verification = "align" }, "--verification is not given there and align here"},
		{"another preset", func(m *Manifest) { m.Options.Preset = "paper" }, "--preset is not given there and paper here"},
		{"gold entities", func(m *Manifest) { m.GoldEntities = true }, "--gold-entities is false there and true here"},
		{"another seed", func(m *Manifest) { m.Seed = 2 }, "--seed is 1 there and 2 here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			there := testManifest()
			there.Snapshot = 3
			if _, err := reconcile(dir, there); err != nil {
				t.Fatal(err)
			}
			here := there
			c.change(&here)
			_, err := openJournal(dir, here)
			if err == nil {
				t.Fatal("they were taken for the same")
			}
			for _, want := range []string{dir, c.want, "choose another --out"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
			if strings.Count(err.Error(), " there and ") != 1 {
				t.Errorf("error %q names more than what differs", err)
			}
		})
	}
}

func TestManifestGoesOnWithTheSnapshotItHas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	there := testManifest()
	there.Snapshot = 3
	if _, err := reconcile(dir, there); err != nil {
		t.Fatal(err)
	}
	moved := testManifest()
	moved.Dataset = "elsewhere/q.jsonl"
	got, err := reconcile(dir, moved)
	if err != nil {
		t.Fatal(err)
	}
	if got != there {
		t.Errorf("got %+v, want %+v", got, there)
	}
}

func TestManifestTakesOnASnapshotThatWasOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := reconcile(dir, testManifest()); err != nil {
		t.Fatal(err)
	}
	pinned := testManifest()
	pinned.Snapshot = 5
	for range 2 { // the second time it is read back from the file
		got, err := reconcile(dir, pinned)
		if err != nil || got.Snapshot != 5 {
			t.Fatalf("got %+v, %v", got, err)
		}
		pinned.Snapshot = 0
	}
}

func TestManifestThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, manifestName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := reconcile(dir, testManifest())
	if err == nil || !strings.Contains(err.Error(), manifestName+" is no manifest") || !strings.Contains(err.Error(), "another --out") {
		t.Errorf("error %v", err)
	}
}
