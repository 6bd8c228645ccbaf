package tests

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// traced asks with spans enabled.
func traced(t *testing.T, m *running, method string) []*orchestratorv1.Span {
	t.Helper()
	req := question(method)
	req.Options = &orchestratorv1.AskOptions{Spans: true}
	return m.ask(t, req).GetSpans()
}

func TestAQuestionIsOneTraceOverAllServices(t *testing.T) {
	m := start(t, options{model: scripted(t)})
	services := map[string]bool{}
	for _, c := range []struct {
		method string
		// calls is the number of model calls, spans other spans that must exist.
		calls int
		spans []string
	}{
		{"pg-akv", 2, []string{"stage pseudo-graph", "stage ground-graph", "stage verify", "stage answer",
			"retriever.encode", "store.search_triples", "retriever.prune"}},
		{"ger", 6, []string{"stage link", "stage paths", "stage reflect", "retriever.link_entities",
			"retriever.suggest_paths", "retriever.follow_paths"}},
	} {
		t.Run(c.method+" is one tree", func(t *testing.T) {
			spans := traced(t, m, c.method)
			ids := map[string]*orchestratorv1.Span{}
			for _, s := range spans {
				ids[s.GetSpanId()] = s
				services[s.GetService()] = true
			}
			if len(ids) != len(spans) {
				t.Errorf("%d spans have %d ids", len(spans), len(ids))
			}
			var roots, found []string
			calls := 0
			for _, s := range spans {
				found = append(found, s.GetName())
				parent := ids[s.GetParentSpanId()]
				switch {
				case s.GetParentSpanId() == "":
					roots = append(roots, s.GetName())
				case parent == nil:
					t.Errorf("%s of the %s has an unknown parent span", s.GetName(), s.GetService())
				}
				if s.GetError() != "" {
					t.Errorf("%s ended in %s", s.GetName(), s.GetError())
				}
				if s.GetAttributes()["gen_ai.operation.name"] != "" {
					calls++
					checkModelSpan(t, s)
				}
			}
			if len(roots) != 1 || !strings.HasSuffix(roots[0], "OrchestratorService/Ask") {
				t.Errorf("the roots are %v", roots)
			}
			if calls != c.calls {
				t.Errorf("%d spans of model calls, want %d", calls, c.calls)
			}
			for _, want := range c.spans {
				if !slices.Contains(found, want) {
					t.Errorf("no span %q among %q", want, found)
				}
			}
		})
	}
	if got, want := slices.Sorted(maps.Keys(services)),
		slices.Sorted(slices.Values(mesh.StageNames())); !slices.Equal(got, want) {
		t.Errorf("spans came from %v, want all of %v", got, want)
	}
}

// checkModelSpan requires the attributes of a model call in the semantic conventions.
func checkModelSpan(t *testing.T, s *orchestratorv1.Span) {
	t.Helper()
	for _, key := range []string{"gen_ai.operation.name", "gen_ai.request.model", "gen_ai.usage.input_tokens",
		"gen_ai.usage.output_tokens"} {
		if s.GetAttributes()[key] == "" {
			t.Errorf("%s of the %s lacks %s: %v", s.GetName(), s.GetService(), key, s.GetAttributes())
		}
	}
	for key, value := range s.GetAttributes() {
		if strings.Contains(value, "Robert Stam") || strings.Contains(value, "Alexander") {
			t.Errorf("%s contains the question in %s, which is disabled", s.GetName(), key)
		}
	}
}

func TestSpansAreOmittedUnlessRequested(t *testing.T) {
	m := start(t, options{model: scripted(t)})
	if spans := m.ask(t, question("pg-akv")).GetSpans(); len(spans) != 0 {
		t.Errorf("got %d spans", len(spans))
	}
}
