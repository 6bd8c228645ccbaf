package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// differences says, for each thing in which two evaluations differ, what it is
// there and here. Where the questions were read from, how many of them are
// asked, and what only the answers tell are no differences, nor is a snapshot
// that one of them leaves open.
func (there Manifest) differences(here Manifest) []string {
	var out []string
	differ := func(what string, there, here any) {
		if there != here {
			out = append(out, fmt.Sprintf("%s is %s there and %s here", what, show(there), show(here)))
		}
	}
	differ("the version", there.Version, here.Version)
	differ("the checksum of the questions", there.Dataset.SHA256, here.Dataset.SHA256)
	differ("--format", there.Dataset.Format, here.Dataset.Format)
	differ("--part", there.Part, here.Part)
	differ("--kg", there.KG, here.KG)
	if there.Snapshot != 0 && here.Snapshot != 0 {
		differ("the snapshot", there.Snapshot, here.Snapshot)
	}
	if others, mine := names(there.OtherKGs), names(here.OtherKGs); others != mine {
		differ("--other-kg", others, mine)
	} else {
		for i, kg := range there.OtherKGs {
			if mine := here.OtherKGs[i]; kg.Snapshot != 0 && mine.Snapshot != 0 {
				differ("the snapshot of "+kg.Name, kg.Snapshot, mine.Snapshot)
			}
		}
	}
	differ("--method", there.Method, here.Method)
	differ("--until", there.Options.Until, here.Options.Until)
	differ("--verification", there.Options.Verification, here.Options.Verification)
	differ("--reflection", there.Options.Reflection, here.Options.Reflection)
	differ("--preset", there.Options.Preset, here.Options.Preset)
	differ("--ablation", there.Options.Ablation, here.Options.Ablation)
	differ("--answer-form", there.Options.AnswerForm, here.Options.AnswerForm)
	differ("--max-hops", there.Options.MaxHops, here.Options.MaxHops)
	differ("--beam-width", there.Options.BeamWidth, here.Options.BeamWidth)
	differ("--abstain-below", there.Options.AbstainBelow, here.Options.AbstainBelow)
	differ("the checksum of --relation-paths", there.Options.RelationPaths, here.Options.RelationPaths)
	differ("--gold-entities", there.GoldEntities, here.GoldEntities)
	differ("--reader", there.Reader, here.Reader)
	differ("--seed", there.Seed, here.Seed)
	if there.Encoder != "" && here.Encoder != "" {
		differ("the encoder", there.Encoder, here.Encoder)
	}
	return out
}

func names(kgs []KG) string {
	out := make([]string, len(kgs))
	for i, kg := range kgs {
		out[i] = kg.Name
	}
	return strings.Join(out, ", ")
}

func show(value any) string {
	if text := fmt.Sprint(value); text != "" {
		return text
	}
	return "not given"
}

// adopt returns the manifest to go on with: what is here, with what the answers
// have told there.
func (there Manifest) adopt(here Manifest) Manifest {
	if here.Snapshot == 0 {
		here.Snapshot = there.Snapshot
	}
	here.OtherKGs = slices.Clone(here.OtherKGs)
	for i := range here.OtherKGs {
		if here.OtherKGs[i].Snapshot == 0 {
			here.OtherKGs[i].Snapshot = there.OtherKGs[i].Snapshot
		}
	}
	here.Models = there.Models
	here.Asked = max(there.Asked, here.Asked)
	if here.Encoder == "" {
		here.Encoder = there.Encoder
	}
	return here
}

// reconcile compares the manifest of a directory, if it has one, with the
// evaluation to be run, and returns the one to go on with.
func reconcile(dir string, here Manifest) (Manifest, error) {
	there, err := readManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return here, writeManifest(dir, here)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("resume evaluation: %w; or choose another --out", err)
	}
	if differences := there.differences(here); len(differences) > 0 {
		return Manifest{}, fmt.Errorf("resume evaluation: %s holds results of another one: %s; give the same flags "+
			"as before, or choose another --out",
			dir, strings.Join(differences, "; "))
	}
	here = there.adopt(here)
	return here, writeManifest(dir, here)
}

// readManifest reads the manifest of a directory. A format that is not this
// program's is an error.
func readManifest(dir string) (Manifest, error) {
	path := filepath.Join(dir, manifestName)
	text, err := os.ReadFile(path)
	if err != nil {
		return Manifest{}, err
	}
	var format struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &format); err != nil {
		return Manifest{}, fmt.Errorf("%s is no manifest: %w", path, err)
	}
	switch {
	case format.Format > Format:
		return Manifest{}, fmt.Errorf("%s holds results in format %d, and this program reads format %d: read them "+
			"with the newer triplemesh that wrote them", dir, format.Format, Format)
	case format.Format != Format:
		return Manifest{}, fmt.Errorf("%s holds results in format %d of an older triplemesh, and this one reads "+
			"format %d: evaluate again into a new directory, which costs no model calls where the answer cache is kept",
			dir, format.Format, Format)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return Manifest{}, fmt.Errorf("%s is no manifest: %w", path, err)
	}
	return m, nil
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
