package quota

import (
	"math"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
)

func TestLimitsFor(t *testing.T) {
	c := Config{"acme": {QuestionsPerDay: 5}, Everyone: {QuestionsPerDay: 1, TokensPerDay: 2}}
	for id, want := range map[auth.Tenant]Limits{acme: {QuestionsPerDay: 5}, globex: {QuestionsPerDay: 1,
		TokensPerDay: 2}, auth.DefaultTenant(): {QuestionsPerDay: 1, TokensPerDay: 2}} {
		if got := c.LimitsFor(id); got != want {
			t.Errorf("%s may use %+v, want %+v", id, got, want)
		}
	}
	if got := (Config)(nil).LimitsFor(acme); got != (Limits{}) {
		t.Errorf("where nothing is configured: %+v", got)
	}
}

func TestInvalidConfigs(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		says []string
	}{
		{"nothing is fine", nil, nil},
		{"tenants and everyone are fine", Config{"acme": {QuestionsPerDay: 1}, Everyone: {}}, nil},
		{"a name that no tenant has", Config{"Acme Inc": {}}, []string{`"Acme Inc"`, `"*"`}},
		{"less than no money", Config{"acme": {CostUSDPerDay: -1}}, []string{"acme: cost_usd_per_day"}},
		{"money that is no number", Config{Everyone: {CostUSDPerDay: math.NaN()}}, []string{"*: cost_usd_per_day"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.cfg.Validate()
			if (err == nil) != (c.says == nil) {
				t.Fatalf("got %v", err)
			}
			for _, says := range c.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%v does not say %q", err, says)
				}
			}
		})
	}
}
