package tests

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/testkit"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// TestSixServicesOverMTLS asks questions of a mesh with mTLS on every connection, enabled by one
// setting.
func TestSixServicesOverMTLS(t *testing.T) {
	certs := testkit.NewCerts(t, mesh.StageNames()...)
	m := start(t, options{model: scripted(t), certs: certs})
	for _, method := range []string{"pg-akv", "ger"} {
		if run := m.ask(t, question(method)); len(run.GetAnswers()) == 0 {
			t.Errorf("%s gives no answer: %q", method, run.GetText())
		}
	}
	if _, err := m.graphs.ListKnowledgeGraphs(timeoutContext(t, patience),
		&retrieverv1.ListKnowledgeGraphsRequest{}); err != nil {
		t.Errorf("the retriever does not answer a caller without a certificate: %v", err)
	}
	draft := &generatorv1.GeneratePseudoGraphRequest{Question: "?"}
	_, err := generatorv1.NewGeneratorServiceClient(m.dial(t, "generator")).GeneratePseudoGraph(timeoutContext(t,
		patience),
		draft)
	if status.Code(err) != codes.Unavailable {
		t.Errorf("the generator returns %v to a caller without a certificate", err)
	}
	secure, err := certs.Files().Visitor("verifier").Credentials("generator")
	if err != nil {
		t.Fatal(err)
	}
	_, err = generatorv1.NewGeneratorServiceClient(dialWith(t, m.mesh.Addr("generator"), secure)).GeneratePseudoGraph(
		timeoutContext(t, patience), draft)
	if status.Code(err) != codes.PermissionDenied {
		t.Errorf("the generator returns %v to the verifier", err)
	}
	_, err = orchestratorv1.NewOrchestratorServiceClient(dial(t, m.mesh.Addr("orchestrator"))).ListMethods(
		timeoutContext(t,
			patience), &orchestratorv1.ListMethodsRequest{})
	if status.Code(err) != codes.Unavailable {
		t.Errorf("the orchestrator returns %v in plain text", err)
	}
}

// BenchmarkOverheadOfMTLS asks two meshes in turn, one in plain text and one over mTLS. It reports
// medians in milliseconds of whole questions and of their time without encoding and searching, and
// by how much the latter grows with mTLS, in percent.
func BenchmarkOverheadOfMTLS(b *testing.B) {
	var meshes [2]*running
	for i, certs := range []*testkit.Certs{nil, testkit.NewCerts(b, mesh.StageNames()...)} {
		meshes[i] = start(b, options{data: benchGraphs(b), model: instant(b), certs: certs})
	}
	questions := benchQuestions(b, 10_000)
	ask := func(m *running, i int) (whole, rest time.Duration) {
		began := time.Now()
		resp, err := m.orchestrator.Ask(b.Context(), &orchestratorv1.AskRequest{
			Question: questions[i%len(questions)],
			Kg:       &graphv1.KnowledgeGraphRef{Name: wikidata}, Options: &orchestratorv1.AskOptions{Spans: true},
		})
		whole = time.Since(began)
		if err != nil {
			b.Fatal(err)
		}
		return whole, whole - inSpans(resp.GetRun(), "retriever.encode") - inSpans(resp.GetRun(),
			"store.search_triples")
	}
	var whole, rest [2][]time.Duration
	const warm = 20
	i := 0
	for range warm {
		ask(meshes[0], i)
		ask(meshes[1], i)
		i++
	}
	for b.Loop() {
		for k := range meshes {
			k = (k + i) % 2 // alternate which one goes first
			w, r := ask(meshes[k], i)
			whole[k], rest[k] = append(whole[k], w), append(rest[k], r)
		}
		i++
	}
	for k, name := range []string{"plain", "mtls"} {
		b.ReportMetric(median(whole[k]).Seconds()*1e3, name+"-p50-ms")
		b.ReportMetric(median(rest[k]).Seconds()*1e3, name+"-rest-p50-ms")
	}
	more := func(of [2][]time.Duration) float64 {
		return 100 * (median(of[1]).Seconds()/median(of[0]).Seconds() - 1)
	}
	b.ReportMetric(more(whole), "more-%")
	b.ReportMetric(more(rest), "rest-more-%")
}
