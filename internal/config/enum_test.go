package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/config"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

func TestName(t *testing.T) {
	for _, c := range []struct {
		name, got, want string
	}{
		{"a value of one word", config.EnumName(verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN), "align"},
		{"a value of several has dashes", config.EnumName(orchestratorv1.Ablation_ABLATION_FROM_GROUND_GRAPH),
			"from-ground-graph"},
		{"the unspecified value", config.EnumName(orchestratorv1.Ablation_ABLATION_UNSPECIFIED), "unspecified"},
		{"a number that is no value", config.EnumName(orchestratorv1.Ablation(99)), "99"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got %q, want %q", c.got, c.want)
			}
		})
	}
}

func TestParseReadsWhatNameShows(t *testing.T) {
	names := config.EnumNames[orchestratorv1.Ablation]()
	if len(names) != len(orchestratorv1.Ablation_name)-1 || !slices.Contains(names, "negative-verdicts") {
		t.Errorf("the names are %q", names)
	}
	for _, name := range names {
		got, err := config.ParseEnum[orchestratorv1.Ablation](name)
		if err != nil || got == 0 || config.EnumName(got) != name {
			t.Errorf("%s is read as %v, %v", name, got, err)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, in, says string
	}{
		{"no name is the unspecified value", "", ""},
		{"an unknown name lists those there are", "guess", "align, edits, rewrite"},
		{"the unspecified value has no name to type", "unspecified", "unknown value"},
		{"a name is typed in full", "rewr", "unknown value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := config.ParseEnum[verifierv1.VerificationMode](c.in)
			if got != 0 || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}
