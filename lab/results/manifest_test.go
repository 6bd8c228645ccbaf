package results

import (
	"os"
	"path/filepath"
	"reflect"
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
		{"another version", func(m *Manifest) { m.Version = "v2" }, "the version is v1 there and v2 here"},
		{"other questions", func(m *Manifest) { m.Dataset.SHA256 = "def" },
			"the checksum of the questions is abc there and def here"},
		{"another knowledge graph", func(m *Manifest) { m.KG = "" }, "--kg is wikidata there and not given here"},
		{"another snapshot", func(m *Manifest) { m.Snapshot = 4 }, "the snapshot is 3 there and 4 here"},
		{"another method", func(m *Manifest) { m.Method = "io" }, "--method is pg-akv there and io here"},
		{"another last stage", func(m *Manifest) { m.Options.Until = "verify" },
			"--until is not given there and verify here"},
		{"another verification", func(m *Manifest) { m.Options.Verification = "align" },
			"--verification is not given there and align here"},
		{"another reflection", func(m *Manifest) { m.Options.Reflection = "model" },
			"--reflection is not given there and model here"},
		{"another ablation", func(m *Manifest) { m.Options.Ablation = "no-reflection" },
			"--ablation is not given there and no-reflection here"},
		{"another answer form", func(m *Manifest) { m.Options.AnswerForm = "text" },
			"--answer-form is not given there and text here"},
		{"longer paths", func(m *Manifest) { m.Options.MaxHops = 3 }, "--max-hops is 0 there and 3 here"},
		{"another beam", func(m *Manifest) { m.Options.BeamWidth = 5 }, "--beam-width is 0 there and 5 here"},
		{"abstention", func(m *Manifest) { m.Options.AbstainBelow = 0.5 }, "--abstain-below is 0 there and 0.5 here"},
		{"given relation paths", func(m *Manifest) { m.Options.RelationPaths = "def" },
			"the checksum of --relation-paths is not given there and def here"},
		{"another format of the questions", func(m *Manifest) { m.Dataset.Format = "metaqa" },
			"--format is jsonl there and metaqa here"},
		{"another knowledge graph beside", func(m *Manifest) { m.OtherKGs = nil },
			"--other-kg is freebase there and not given here"},
		{"another snapshot beside", func(m *Manifest) { m.OtherKGs = []KG{{"freebase", 3}} },
			"the snapshot of freebase is 2 there and 3 here"},
		{"another encoder", func(m *Manifest) { m.Encoder = "e2" }, "the encoder is e1 there and e2 here"},
		{"another preset", func(m *Manifest) { m.Options.Preset = "paper" },
			"--preset is not given there and paper here"},
		{"gold entities", func(m *Manifest) { m.GoldEntities = true }, "--gold-entities is false there and true here"},
		{"another reader", func(m *Manifest) { m.Reader = "oracle:0.2" },
			"--reader is not given there and oracle:0.2 here"},
		{"another seed", func(m *Manifest) { m.Seed = 2 }, "--seed is 1 there and 2 here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			there := testManifest()
			there.Snapshot, there.Encoder, there.OtherKGs = 3, "e1", []KG{{"freebase", 2}}
			if _, err := reconcile(dir, there); err != nil {
				t.Fatal(err)
			}
			here := there
			c.change(&here)
			_, err := Resume(dir, here)
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

func TestManifestGoesOnWithWhatTheAnswersToldBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	there := testManifest()
	there.Snapshot, there.OtherKGs, there.Models, there.Encoder = 3, []KG{{"freebase", 2}}, []string{"m"}, "e1"
	if _, err := reconcile(dir, there); err != nil {
		t.Fatal(err)
	}
	here := testManifest()
	here.Dataset.Path, here.OtherKGs, here.Asked = "elsewhere/q.jsonl", []KG{{Name: "freebase"}}, 2
	got, err := reconcile(dir, here)
	if err != nil {
		t.Fatal(err)
	}
	want := there
	want.Dataset.Path = "elsewhere/q.jsonl"
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if here.OtherKGs[0].Snapshot != 0 {
		t.Error("the manifest that was given has changed")
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

func TestManifestOfAnotherFormatSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"results of an older triplemesh are evaluated again", `{"format": 1, "dataset": "q.jsonl"}`,
			"format 1 of an older triplemesh, and this one reads format 3: evaluate again"},
		{"results of a newer triplemesh are read by that", `{"format": 4, "dataset": []}`,
			"format 4, and this program reads format 3: read them with the newer"},
		{"a manifest without a format is as old", `{}`, "format 0 of an older triplemesh"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, manifestName), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, resumed := Resume(dir, testManifest())
			_, opened := Open(dir)
			for _, err := range []error{resumed, opened} {
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
					t.Errorf("error %v", err)
				}
			}
		})
	}
}

func TestManifestThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, manifestName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := reconcile(dir, testManifest())
	if err == nil || !strings.Contains(err.Error(), manifestName+" is no manifest") || !strings.Contains(err.Error(),
		"another --out") {
		t.Errorf("error %v", err)
	}
}
