package retriever

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func TestMetricsAreCountedByTenant(t *testing.T) {
	tel, err := telemetry.Start(t.Context(), telemetry.DefaultConfig(), "retriever")
	if err != nil {
		t.Fatal(err)
	}
	service, err := New(storetest.TenantsOver(rivers()), &storetest.WordEncoder{}, nil, tel)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"acme", "globex", "globex"} {
		if _, err := service.GroundGraph(asTenant(t, t.Context(), name), &retrieverv1.GroundGraphRequest{Kg: kg,
			Question: "Where is the mouth of the Rhine?"}); err != nil {
			t.Fatal(err)
		}
	}
	got := httptest.NewRecorder()
	tel.MetricsHandler().ServeHTTP(got, httptest.NewRequest("GET", "/metrics", nil))
	for name, count := range map[string]string{"acme": "1", "globex": "2"} {
		found := false
		for line := range strings.Lines(got.Body.String()) {
			if strings.HasPrefix(line, "triplemesh_retriever_hits_") && strings.Contains(line, "_count{") &&
				strings.Contains(line, `triplemesh_tenant="`+name+`"`) {
				found = strings.HasSuffix(line, "} "+count+"\n")
			}
		}
		if !found {
			t.Errorf("%s questions of %s are not among the metrics:\n%s", count, name, got.Body)
		}
	}
	if err := tel.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
