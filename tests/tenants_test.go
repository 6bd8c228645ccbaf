package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/triplemesh/triplemesh/internal/auth"
	authv1 "github.com/triplemesh/triplemesh/proto/triplemesh/auth/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// attempts lists, for every method that a tenant may call, requests for another tenant's resources:
// their knowledge graph KG, its snapshots 1 and 2, their run RUN; MINE is the caller's own
// knowledge graph. A line of --- separates the messages of a stream.
var attempts = map[protoreflect.FullName][]string{
	"triplemesh.orchestrator.v1.OrchestratorService.Ask": {
		`question: "What institution employed Robert Stam?" method: "pg-akv" kg { name: "KG" }`,
		`question: "What institution employed Robert Stam?" method: "ger" kg { name: "KG" snapshot: 1 }`,
		`question: "What institution employed Robert Stam?" method: "rag" kg { name: "KG" snapshot: 2 }`,
		`question: "What institution employed Robert Stam?" method: "pg-akv" kg { name: "MINE" } ` +
			`other_kgs { name: "KG" }`,
	},
	"triplemesh.orchestrator.v1.OrchestratorService.AskStream": {
		`request { question: "What institution employed Robert Stam?" method: "pg-akv" kg { name: "KG" } }`,
	},
	"triplemesh.orchestrator.v1.OrchestratorService.ListMethods": {``},
	"triplemesh.orchestrator.v1.OrchestratorService.GetRun":      {`id: "RUN"`},
	"triplemesh.orchestrator.v1.OrchestratorService.ListRuns":    {``, `kg_name: "KG"`, `page_size: 1`},
	"triplemesh.orchestrator.v1.OrchestratorService.GetQuota":    {``},
	"triplemesh.orchestrator.v1.OrchestratorService.GetMesh":     {``},
	"triplemesh.orchestrator.v1.OrchestratorService.Check": {
		`text: "Robert Stam works at Google." kg { name: "KG" }`,
		`text: "Robert Stam works at Google." kg { name: "KG" snapshot: 2 }`,
		`text: "Robert Stam works at Google." kg { name: "MINE" } other_kgs { name: "KG" }`,
	},
	"triplemesh.orchestrator.v1.OrchestratorService.ProposeTriples": {`text: "Robert Stam works at Google."`},
	"triplemesh.orchestrator.v1.OrchestratorService.CheckStream": {
		`request { text: "Robert Stam works at Google." kg { name: "KG" } }`},

	"triplemesh.orchestrator.v1.FeedbackService.CreateFeedback": {
		`run_id: "RUN" marks { judgement: JUDGEMENT_WRONG answer { answer: "Google" } }`},
	"triplemesh.orchestrator.v1.FeedbackService.ListFeedback":   {``, `kg_name: "KG"`, `run_id: "RUN"`},
	"triplemesh.orchestrator.v1.FeedbackService.DeleteFeedback": {`id: "RUN-1"`},

	"triplemesh.retriever.v1.RetrieverService.ExploreQueryPlan": reads(
		`question: "Where did Robert Stam work?" plan {}`),
	"triplemesh.retriever.v1.RetrieverService.ExecuteQuery": reads(`plan {}`),
	"triplemesh.retriever.v1.RetrieverService.GroundGraph":  reads(`question: "Where did Robert Stam work?"`),
	"triplemesh.retriever.v1.RetrieverService.SuggestPaths": reads(
		`question: "Where did Robert Stam work?" topic_entities: "Robert Stam"`),
	"triplemesh.retriever.v1.RetrieverService.FollowPaths": reads(
		`topic_entities: "Robert Stam" paths { steps { relation: "employer" } }`),
	"triplemesh.retriever.v1.RetrieverService.SearchTriples":  reads(`queries: "Robert Stam employer"`),
	"triplemesh.retriever.v1.RetrieverService.ListNeighbours": reads(`entity: "Robert Stam"`),
	"triplemesh.retriever.v1.RetrieverService.FindShortestPaths": reads(
		`from: "Robert Stam" to: "New York University"`),
	"triplemesh.retriever.v1.RetrieverService.LinkEntities":     reads(`text: "Robert Stam"`),
	"triplemesh.retriever.v1.RetrieverService.BatchGetEntities": reads(`entities: "Robert Stam"`),
	"triplemesh.retriever.v1.RetrieverService.SampleEntities":   reads(``),
	"triplemesh.retriever.v1.RetrieverService.SearchRelations":  reads(`queries: "employer"`),

	"triplemesh.retriever.v1.KnowledgeGraphService.ProposeColumns":      {`file: "x.csv" head: "a,b\n"`},
	"triplemesh.retriever.v1.KnowledgeGraphService.ListKnowledgeGraphs": {``, `kg_name: "KG"`},
	"triplemesh.retriever.v1.KnowledgeGraphService.ActivateSnapshot": {`kg { name: "KG" snapshot: 1 }`,
		`kg { name: "KG" snapshot: 2 }`},
	"triplemesh.retriever.v1.KnowledgeGraphService.RollbackKnowledgeGraph": {`kg { name: "KG" }`},
	"triplemesh.retriever.v1.KnowledgeGraphService.DropKnowledgeGraph":     reads(``),
	"triplemesh.retriever.v1.KnowledgeGraphService.VerifySnapshot":         reads(``),
	"triplemesh.retriever.v1.KnowledgeGraphService.CompactSnapshot":        reads(``),
	"triplemesh.retriever.v1.KnowledgeGraphService.DiffSnapshots": {`kg { name: "KG" } from: 1`,
		`kg { name: "KG" snapshot: 2 } from: 1`, `kg { name: "MINE" snapshot: 1 } from: 2`},
	"triplemesh.retriever.v1.KnowledgeGraphService.ExportSnapshot": reads(``),
	"triplemesh.retriever.v1.KnowledgeGraphService.LoadKnowledgeGraph": {
		`header { kg { name: "KG" } mode: LOAD_MODE_ADD }` +
			file(`file { name: "more.tsv" }`) + file(`chunk: "a\tis\tb\n"`),
		`header { kg { name: "KG" } mode: LOAD_MODE_REMOVE }` +
			file(`file { name: "less.tsv" }`) + file(`chunk: "a\tis\tb\n"`),
	},
	"triplemesh.retriever.v1.KnowledgeGraphService.LoadKnowledgeGraphStream": {
		`request { header { kg { name: "KG" } mode: LOAD_MODE_ADD } }` +
			file(`request { file { name: "more.tsv" } }`) + file(
			`request { chunk: "a\tis\tb\n" }`),
	},
	"triplemesh.retriever.v1.KnowledgeGraphService.CreateRanker": {
		`header { kg { name: "KG" } activate: true }` + file(`chunk: "no ranker"`)},
	"triplemesh.retriever.v1.KnowledgeGraphService.ListRankers":    {`kg_name: "KG"`},
	"triplemesh.retriever.v1.KnowledgeGraphService.ActivateRanker": {`kg { name: "KG" } number: 1`},
	"triplemesh.retriever.v1.KnowledgeGraphService.RollbackRanker": {`kg { name: "KG" }`},
	"triplemesh.retriever.v1.KnowledgeGraphService.DeleteRanker":   {`kg { name: "KG" } number: 1`},
	"triplemesh.retriever.v1.KnowledgeGraphService.ExportRanker": {`kg { name: "KG" }`,
		`kg { name: "KG" } number: 1`},
	"triplemesh.retriever.v1.KnowledgeGraphService.ImportSnapshot": {`header { kg { name: "KG" } }` +
		file(`chunk: "no file of a snapshot"`)},
}

// answered are methods that answer with the caller's own data instead of an error unless the
// request names KG; and ImportSnapshot, which rejects the file.
var answered = []protoreflect.Name{"ListMethods", "ListRuns", "GetQuota", "GetMesh", "ProposeTriples",
	"ListKnowledgeGraphs", "ImportSnapshot", "ListFeedback", "ProposeColumns"}

func reads(with string) []string {
	var all []string
	for n := range 3 {
		all = append(all, fmt.Sprintf(`kg { name: "KG" snapshot: %d } %s`, n, with))
	}
	return all
}

func file(message string) string { return between + message }

// TestNoMethodTellsOneTenantOfAnother calls every method of every service with another tenant's
// resources. Each attempt must end like the same one with names that do not exist, so that it does
// not reveal even their existence.
func TestNoMethodTellsOneTenantOfAnother(t *testing.T) {
	m := startTenanted(t, options{data: t.TempDir(), model: scripted(t)})
	m.load(t, m.acme, plans, "Robert Stam\temployer\tUniversity of Ljubljana\n")
	m.load(t, m.acme, plans, "Robert Stam\temployer\tNew York University\nRobert Stam\tfield of work\tfilm theory\n")
	m.load(t, m.acme, ledgers, "Velmora\triver\tTessen\n")
	m.load(t, m.globex, mine, "Velmora\triver\tOrla\n")
	run := m.mustAsk(t, m.acme, plans)
	if names(run) != employer {
		t.Fatalf("acme is answered %q, want %q", names(run), employer)
	}
	before := m.has(t, m.acme)
	refused := map[string]int{}
	eachMethod(func(method protoreflect.MethodDescriptor, stage string, scope authv1.Scope) {
		requests := attempts[method.FullName()]
		switch {
		case scope == authv1.Scope_SCOPE_MESH:
			requests = []string{""} // forbidden to every tenant
		case requests == nil:
			t.Errorf("%s: no attempt with another tenant's resources; add it to attempts", method.FullName())
		}
		for _, request := range requests {
			words := []string{"acme", "lovelace", plans, ledgers, "film theory", "Ljubljana", employer, run.GetId()}
			theirs, message := m.attempt(t, stage, method, request, plans, run.GetId(), words)
			missing, missingMessage := m.attempt(t, stage, method, request, "nobodys",
				strings.Repeat("0", len(run.GetId())), words)
			if theirs != missing || message != missingMessage {
				t.Errorf("%s %s ends with\n%v: %s\nand for a missing name with\n%v: %s", method.FullName(), request,
					theirs, message, missing, missingMessage)
			}
			want := []codes.Code{codes.NotFound}
			switch {
			case scope == authv1.Scope_SCOPE_MESH:
				want = []codes.Code{codes.PermissionDenied}
			case slices.Contains(answered, method.Name()):
				want = []codes.Code{codes.OK, codes.NotFound, codes.DataLoss, codes.InvalidArgument}
			}
			if !slices.Contains(want, theirs) {
				t.Errorf("%s %s ends with %v: %s; want %v", method.FullName(), request, theirs, message, want)
			}
			if theirs == codes.NotFound || theirs == codes.PermissionDenied {
				refused[fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())] += 2
			}
		}
	})
	if after := m.has(t, m.acme); after != before {
		t.Errorf("acme has\n%s, had\n%s", after, before)
	}
	if again := m.mustAsk(t, m.acme, plans); names(again) != employer {
		t.Errorf("acme is answered %q afterwards", names(again))
	}
	m.checkAudit(t, refused)
}

// attempt calls a method as a user of globex and returns the status code and its message, with the
// names replaced by KG and RUN. The response must contain none of words that was not in the
// request.
func (m tenanted) attempt(t *testing.T, stage string, method protoreflect.MethodDescriptor, request, kg, run string,
	words []string) (codes.Code, string) {
	t.Helper()
	request = strings.NewReplacer("KG", kg, "MINE", mine, "RUN", run).Replace(request)
	answers, err := call(bearing(t, m.globex), m.conns[stage], method, request)
	st := status.Convert(err)
	response := prototext.Format(st.Proto())
	for _, a := range answers {
		response += prototext.Format(a)
	}
	for _, word := range words {
		if strings.Contains(response, word) && !strings.Contains(request, word) {
			t.Errorf("%s %s reveals %q: %s", method.FullName(), request, word, response)
		}
	}
	return st.Code(), strings.NewReplacer(kg, "KG", run, "RUN").Replace(st.Message())
}

// checkAudit requires an audit line for each refusal, and no secrets in any.
func (m tenanted) checkAudit(t *testing.T, refused map[string]int) {
	t.Helper()
	m.stop()
	log, err := os.ReadFile(m.audit)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for text := range bytes.Lines(log) {
		var line struct{ Tenant, Subject, Via, Method, Code string }
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if line.Tenant == "globex" && line.Subject == "gus" && line.Via == "" && (line.Code == "NOT_FOUND" ||
			line.Code == "PERMISSION_DENIED") {
			lines[line.Method]++
		}
	}
	for method, n := range refused {
		if lines[method] != n {
			t.Errorf("%s was refused %d times, the audit log has %d lines of it", method, n, lines[method])
		}
	}
	for _, never := range []string{employerQuestion, m.acme, m.globex} {
		if bytes.Contains(log, []byte(never)) {
			t.Errorf("the audit log holds %q", never)
		}
	}
}

// TestNoNameLeadsToAnotherTenant uses paths as names of knowledge graphs and runs.
func TestNoNameLeadsToAnotherTenant(t *testing.T) {
	m := startTenanted(t, options{data: t.TempDir(), model: scripted(t)})
	m.load(t, m.acme, plans, "Robert Stam\temployer\tNew York University\nRobert Stam\tfield of work\tfilm theory\n")
	m.load(t, m.globex, mine, "Velmora\triver\tOrla\n")
	before := m.has(t, m.acme)
	eachMethod(func(method protoreflect.MethodDescriptor, stage string, scope authv1.Scope) {
		for _, request := range attempts[method.FullName()] {
			if !strings.Contains(request, `"KG"`) && !strings.Contains(request, `"RUN"`) {
				continue
			}
			for _, path := range []string{"@acme/plans", "../@acme/plans", "./../@acme/plans", "@acme", "..", ".",
				"plans/1", "/plans", "Acme", "@globex/../@acme/plans"} {
				code, message := m.attempt(t, stage, method, request, path, path, []string{"film theory", employer})
				// A filter without matches is not an error.
				if code != codes.InvalidArgument && code != codes.NotFound &&
					!(code == codes.OK && (method.Name() == "ListRuns" || method.Name() == "ListFeedback")) {
					t.Errorf("%s with %q: %v: %s", method.FullName(), path, code, message)
				}
			}
		}
	})
	if after := m.has(t, m.acme); after != before {
		t.Errorf("acme has\n%s, had\n%s", after, before)
	}
	entries, err := os.ReadDir(filepath.Join(m.data, "kg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "@acme" && e.Name() != "@globex" {
			t.Errorf("%s lies among the tenants' directories", e.Name())
		}
	}
}

// TestNobodyChoosesTheirTenant calls every method with metadata that claims another tenant, with
// and without a token.
func TestNobodyChoosesTheirTenant(t *testing.T) {
	m := startTenanted(t, options{data: t.TempDir(), model: scripted(t)})
	m.load(t, m.acme, plans, "Robert Stam\temployer\tNew York University\n")
	refused := map[string]int{}
	eachMethod(func(method protoreflect.MethodDescriptor, stage string, scope authv1.Scope) {
		requests := append([]string{""}, attempts[method.FullName()]...)
		request := strings.NewReplacer("KG", plans, "MINE", plans, "RUN", "01").Replace(requests[len(requests)-1])
		for _, claim := range [][]string{
			{auth.TenantKey, "acme"},
			{auth.TenantKey, "globex"},
			{auth.TenantKey, ""},
			{auth.TenantKey, "globex", auth.TenantKey, "acme"},
			{auth.SubjectKey, "lovelace"},
			{auth.TenantKey, "acme", auth.SubjectKey, "lovelace"},
		} {
			ctx := metadata.AppendToOutgoingContext(bearing(t, m.globex), claim...)
			if _, err := call(ctx, m.conns[stage], method, request); status.Code(err) != codes.PermissionDenied {
				t.Errorf("%s with %q: %v", method.FullName(), claim, err)
			}
			refused[fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())]++
			// A claim does not replace a token.
			ctx = metadata.AppendToOutgoingContext(timeoutContext(t, patience), claim...)
			if _, err := call(ctx, m.conns[stage], method, request); status.Code(err) != codes.Unauthenticated {
				t.Errorf("%s with %q and no token: %v", method.FullName(), claim, err)
			}
		}
	})
	if has := m.has(t, m.globex); has != "0 runs\n" {
		t.Errorf("globex has\n%s", has)
	}
	m.checkAudit(t, refused)
}

func TestWithoutAuthenticationTenantClaimsAreRejected(t *testing.T) {
	m := start(t, options{data: t.TempDir(), model: scripted(t)})
	eachMethod(func(method protoreflect.MethodDescriptor, stage string, _ authv1.Scope) {
		ctx := metadata.AppendToOutgoingContext(timeoutContext(t, patience), auth.TenantKey, "acme")
		if _, err := call(ctx, m.dial(t, stage), method, ""); status.Code(err) != codes.PermissionDenied {
			t.Errorf("%s: %v", method.FullName(), err)
		}
	})
}

// TestTenantsUseTheSameNamesAndQuestionsApart has two tenants ask the same question over knowledge
// graphs of the same name.
func TestTenantsUseTheSameNamesAndQuestionsApart(t *testing.T) {
	m := startTenanted(t, options{data: t.TempDir(), model: scripted(t)})
	m.load(t, m.acme, plans, "Robert Stam\temployer\tUniversity of Ljubljana\n")
	m.load(t, m.acme, plans, "Robert Stam\temployer\tNew York University\n")
	m.load(t, m.globex, plans, "Robert Stam\temployer\tNew York University\n")
	for _, c := range []struct {
		who, token string
		snapshot   uint64
		cached     bool
	}{
		{"acme", m.acme, 2, false},
		{"globex, whose question is acme's", m.globex, 1, false},
		{"acme again", m.acme, 2, true},
		{"globex again", m.globex, 1, true},
	} {
		run := m.mustAsk(t, c.token, plans)
		if names(run) != employer || run.GetKg().GetSnapshot() != c.snapshot {
			t.Errorf("%s is answered %q from snapshot %d, want %d", c.who, names(run), run.GetKg().GetSnapshot(),
				c.snapshot)
		}
		if u := run.GetUsage(); (u.GetCalls() == 0) != c.cached || (u.GetCachedCalls() > 0) != c.cached {
			t.Errorf("%s: %d calls and %d cached ones; all cached: want %v", c.who, u.GetCalls(), u.GetCachedCalls(),
				c.cached)
		}
	}
	before := m.has(t, m.acme)
	if _, err := m.graphs.DropKnowledgeGraph(bearing(t, m.globex),
		&retrieverv1.DropKnowledgeGraphRequest{Kg: &graphv1.KnowledgeGraphRef{Name: plans}}); err != nil {
		t.Fatal(err)
	}
	if after := m.has(t, m.acme); after != before {
		t.Errorf("after globex dropped its own acme has\n%s, had\n%s", after, before)
	}
	if _, err := m.orchestrator.Ask(bearing(t, m.globex), question("pg-akv")); status.Code(err) != codes.NotFound ||
		strings.Contains(err.Error(), plans) {
		t.Errorf("globex, who has nothing left, asks: %v", err)
	}
	if run := m.mustAsk(t, m.acme, plans); names(run) != employer {
		t.Errorf("acme is answered %q", names(run))
	}
}

func TestSharedKnowledgeGraphsAreReadByAllTenants(t *testing.T) {
	m := startTenanted(t, options{data: t.TempDir(), model: scripted(t),
		set: map[string]string{"retriever.store.shared": "acme"}})
	m.load(t, m.acme, plans, "Robert Stam\temployer\tNew York University\n")
	if run := m.mustAsk(t, m.globex, plans); names(run) != employer {
		t.Errorf("globex is answered %q", names(run))
	}
	listed, err := m.graphs.ListKnowledgeGraphs(bearing(t, m.globex), &retrieverv1.ListKnowledgeGraphsRequest{})
	if err != nil || len(listed.GetSnapshots()) != 1 || !listed.GetSnapshots()[0].GetShared() {
		t.Errorf("globex lists %v, %v", listed, err)
	}
	if _, err := m.graphs.DropKnowledgeGraph(bearing(t, m.globex),
		&retrieverv1.DropKnowledgeGraphRequest{Kg: &graphv1.KnowledgeGraphRef{Name: plans}}); status.Code(
		err) != codes.PermissionDenied {
		t.Errorf("globex drops it: %v", err)
	}
	m.load(t, m.globex, plans, "Robert Stam\temployer\tUniversity of Ljubljana\n")
	if run := m.mustAsk(t, m.globex, plans); names(run) != otherEmployer {
		t.Errorf("globex, who has an own one now, is answered %q", names(run))
	}
	if run := m.mustAsk(t, m.acme, plans); names(run) != employer {
		t.Errorf("acme is answered %q", names(run))
	}
}
