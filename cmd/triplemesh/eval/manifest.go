package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const manifestName = "manifest.json"

// formatVersion is the version of the files in a results directory.
const formatVersion = 1

// Manifest says what a results directory holds the results of. Results are
// added to it only where all of it is the same, except for the dataset's path.
// The number of questions is no part of it: a sample can be extended.
type Manifest struct {
	// Format is the version of the files.
	Format int `json:"format"`
	// Version is the version of the program.
	Version string `json:"version"`
	// Dataset is the path of the questions' file.
	Dataset string `json:"dataset"`
	// DatasetSHA256 is its checksum, in hexadecimal.
	DatasetSHA256 string `json:"dataset_sha256"`
	// KG is the knowledge graph's name; empty where none was named.
	KG string `json:"kg,omitempty"`
	// Snapshot is the snapshot that every question read; 0 until the first
	// answer names it, and for methods that read none.
	Snapshot uint64 `json:"snapshot,omitempty"`
	// Method is the method's name.
	Method string `json:"method"`
	// Options are its settings.
	Options Options `json:"options"`
	// GoldEntities says whether the dataset's topic entities were given;
	// otherwise they were linked.
	GoldEntities bool `json:"gold_entities"`
	// Seed is the seed of the sample.
	Seed int64 `json:"seed"`
}

// differences says, for each thing in which two manifests differ, what it is
// there and here. A snapshot that one of them leaves open is no difference.
func (there Manifest) differences(here Manifest) []string {
	var out []string
	differ := func(what string, there, here any) {
		if there != here {
			out = append(out, fmt.Sprintf("%s is %s there and %s here", what, show(there), show(here)))
		}
	}
	differ("the format", there.Format, here.Format)
	differ("the version", there.Version, here.Version)
	differ("the checksum of the questions", there.DatasetSHA256, here.DatasetSHA256)
	differ("--kg", there.KG, here.KG)
	if there.Snapshot != 0 && here.Snapshot != 0 {
		differ("the snapshot", there.Snapshot, here.Snapshot)
	}
	differ("--method", there.Method, here.Method)
	differ("--until", there.Options.Until, here.Options.Until)
	differ("--verification", there.Options.Verification, here.Options.Verification)
	differ("--reflection", there.Options.Reflection, here.Options.Reflection)
	differ("--preset", there.Options.Preset, here.Options.Preset)
	differ("--gold-entities", there.GoldEntities, here.GoldEntities)
	differ("--seed", there.Seed, here.Seed)
	return out
}

func show(value any) string {
	if value == "" {
		return "not given"
	}
	return fmt.Sprint(value)
}

// reconcile compares the manifest of a directory, where it has one, with the
// evaluation to be run, and returns the one to go on with.
func reconcile(dir string, here Manifest) (Manifest, error) {
	path := filepath.Join(dir, manifestName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return here, writeManifest(dir, here)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("read results: %w", err)
	}
	var there Manifest
	if err := json.Unmarshal(text, &there); err != nil {
		return Manifest{}, fmt.Errorf("read results: %s is no manifest: %w; choose another --out", path, err)
	}
	if differences := there.differences(here); len(differences) > 0 {
		return Manifest{}, fmt.Errorf("resume evaluation: %s holds results of another one: %s; give the same flags as before, or choose another --out",
			dir, strings.Join(differences, "; "))
	}
	if there.Snapshot == 0 && here.Snapshot != 0 {
		there.Snapshot = here.Snapshot
		return there, writeManifest(dir, there)
	}
	return there, nil
}

// writeManifest replaces the manifest as a whole or not at all.
func writeManifest(dir string, m Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	path := filepath.Join(dir, manifestName)
	if err := os.WriteFile(path+".tmp", append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}
