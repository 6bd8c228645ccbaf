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

// attempts are, for every method that a tenant may call, requests that name
// what another tenant has: their knowledge graph KG, its snapshots 1 and 2,
// their run RUN; MINE is the caller's own knowledge graph. The messages of a
// stream have a line of --- between them.
var attempts = map[protoreflect.FullName][]string{
	"triplemesh.orchestrator.v1.OrchestratorService.Ask": {
		`question: "What institution employed Robert Stam?" method: "pg-akv" kg { name: "KG" }`,
		`question: "What institution employed Robert Stam?" method: "ger" kg { name: "KG" snapshot: 1 }`,
		`question: "What institution employed Robert Stam?" method: "rag" kg { name: "KG" snapshot: 2 }`,
		`question: "What institution employed Robert Stam?" method: "pg-akv" kg { name: "MINE" } other_kgs { name: "KG" }`,
	},
	"triplemesh.orchestrator.v1.OrchestratorService.AskStream": {
		`request { question: "What institution employed Robert Stam?" method: "pg-akv" kg { name: "KG" } }`,
	},
	"triplemesh.orchestrator.v1.OrchestratorService.ListMethods": {``},
	"triplemesh.orchestrator.v1.OrchestratorService.GetRun":      {`id: "RUN"`},
	"triplemesh.orchestrator.v1.OrchestratorService.ListRuns":    {``, `kg: "KG"`, `page_size: 1`},
	"triplemesh.orchestrator.v1.OrchestratorService.GetQuota":    {``},
	"triplemesh.orchestrator.v1.OrchestratorService.GetMesh":     {``},
	"triplemesh.orchestrator.v1.OrchestratorService.Check": {
		`text: "Robert Stam works at Google." kg { name: "KG" }`,
		`text: "Robert Stam works at Google." kg { name: "KG" snapshot: 2 }`,
		`text: "Robert Stam works at Google." kg { name: "MINE" } other_kgs { name: "KG" }`,
	},
	"triplemesh.orchestrator.v1.OrchestratorService.ProposeTriples": {`text: "Robert Stam works at Google."`},
	"triplemesh.orchestrator.v1.OrchestratorService.CheckStream":    {`request { text: "Robert Stam works at Google." kg { name: "KG" } }`},

	"triplemesh.retriever.v1.RetrieverService.GroundGraph":     reads(`question: "Where did Robert Stam work?"`),
	"triplemesh.retriever.v1.RetrieverService.SuggestPaths":    reads(`question: "Where did Robert Stam work?" topic_entities: "Robert Stam"`),
	"triplemesh.retriever.v1.RetrieverService.FollowPaths":     reads(`topic_entities: "Robert Stam" paths { steps { relation: "employer" } }`),
	"triplemesh.retriever.v1.RetrieverService.SearchTriples":   reads(`queries: "Robert Stam employer"`),
	"triplemesh.retriever.v1.RetrieverService.Neighbours":      reads(`entity: "Robert Stam"`),
	"triplemesh.retriever.v1.RetrieverService.ShortestPaths":   reads(`from: "Robert Stam" to: "New York University"`),
	"triplemesh.retriever.v1.RetrieverService.LinkEntities":    reads(`text: "Robert Stam"`),
	"triplemesh.retriever.v1.RetrieverService.SearchRelations": reads(`queries: "employer"`),

	"triplemesh.retriever.v1.KnowledgeGraphService.List":     {``, `kg: "KG"`},
	"triplemesh.retriever.v1.KnowledgeGraphService.Activate": {`kg { name: "KG" snapshot: 1 }`, `kg { name: "KG" snapshot: 2 }`},
	"triplemesh.retriever.v1.KnowledgeGraphService.Rollback": {`kg: "KG"`},
	"triplemesh.retriever.v1.KnowledgeGraphService.Drop":     reads(``),
	"triplemesh.retriever.v1.KnowledgeGraphService.Verify":   reads(``),
	"triplemesh.retriever.v1.KnowledgeGraphService.Compact":  reads(``),
	"triplemesh.retriever.v1.KnowledgeGraphService.Diff":     {`kg { name: "KG" } from: 1`, `kg { name: "KG" snapshot: 2 } from: 1`, `kg { name: "MINE" snapshot: 1 } from: 2`},
	"triplemesh.retriever.v1.KnowledgeGraphService.Export":   reads(``),
	"triplemesh.retriever.v1.KnowledgeGraphService.Load": {
		`header { kg: "KG" mode: LOAD_MODE_ADD }` + file(`file { name: "more.tsv" }`) + file(`chunk: "a\tis\tb\n"`),
		`header { kg: "KG" mode: LOAD_MODE_REMOVE }` + file(`file { name: "less.tsv" }`) + file(`chunk: "a\tis\tb\n"`),
	},
	"triplemesh.retriever.v1.KnowledgeGraphService.LoadStream": {
		`request { header { kg: "KG" mode: LOAD_MODE_ADD } }` + file(`request { file { name: "more.tsv" } }`) + file(`request { chunk: "a\tis\tb\n" }`),
	},
	"triplemesh.retriever.v1.KnowledgeGraphService.Import": {`header { kg: "KG" }` + file(`chunk: "no file of a snapshot"`)},
}

// answered are the methods whose answer tells of the caller's own and so is no
// refusal, unless a request names KG; and Import, which refuses the file.
var answered = []protoreflect.Name{"ListMethods", "ListRuns", "GetQuota", "GetMesh", "ProposeTriples", "List", "Import"}

func reads(with string) []string {
	var all []string
	for n := range 3 {
		all = append(all, fmt.Sprintf(`kg { name: "KG" snapshot: %d } %s`, n, with))
	}
	return all
}

func file(message string) string { return between + message }

// TestNoMethodTellsOneTenantOfAnother calls every method of every service with
// what another tenant has. Each attempt must end as the same one with what
// nobody has, so that it does not even tell that something is there.
func TestNoMethodTellsOneTenantOfAnother(t *testing.T) {
	m := startTenanted(t, options{data: t.TempDir(), model: scripted(t)})
	m.load(t, m.acme, plans, "Robert Stam\temployer\tUniversity of Ljubljana\n")
	m.load(t, m.acme, plans, "Robert Stam\temployer\tNew York University\nRobert Stam\tfield of work\tfilm theory\n")
	m.load(t, m.acme, ledgers, "Velmora\triver\tTessen\n")
	m.load(t, m.globex, mine, "Velmora\triver\tOrla\n")
	run := m.asked(t, m.acme, plans)
	if names(run) != employer {
		t.Fatalf("acme is answered %q, want %q", names(run), employer)
	}
	before := m.has(t, m.acme)
	refused := map[string]int{}
	eachMethod(func(method protoreflect.MethodDescriptor, stage string, scope authv1.Scope) {
		requests := attempts[method.FullName()]
		switch {
		case scope == authv1.Scope_SCOPE_MESH:
			requests = []string{""} // no tenant may call it at all
		case requests == nil:
			t.Errorf("%s: nobody tries it with what another tenant has: add it to attempts", method.FullName())
		}
		for _, request := range requests {
			words := []string{"acme", "lovelace", plans, ledgers, "film theory", "Ljubljana", employer, run.GetId()}
			theirs, says := m.attempt(t, stage, method, request, plans, run.GetId(), words)
			nobodys, saysOfNobodys := m.attempt(t, stage, method, request, "nobodys", strings.Repeat("0", len(run.GetId())), words)
			if theirs != nobodys || says != saysOfNobodys {
				t.Errorf("%s %s ends with\n%v: %s\nand of what nobody has with\n%v: %s", method.FullName(), request, theirs, says, nobodys, saysOfNobodys)
			}
			want := []codes.Code{codes.NotFound}
			switch {
			case scope == authv1.Scope_SCOPE_MESH:
				want = []codes.Code{codes.PermissionDenied}
			case slices.Contains(answered, method.Name()):
				want = []codes.Code{codes.OK, codes.NotFound, codes.DataLoss}
			}
			if !slices.Contains(want, theirs) {
				t.Errorf("%s %s ends with %v: %s; want %v", method.FullName(), request, theirs, says, want)
			}
			if theirs == codes.NotFound || theirs == codes.PermissionDenied {
				refused[fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())] += 2
			}
		}
	})
	if after := m.has(t, m.acme); after != before {
		t.Errorf("acme has\n%s, had\n%s", after, before)
	}
	if again := m.asked(t, m.acme, plans); names(again) != employer {
		t.Errorf("acme is answered %q afterwards", names(again))
	}
	m.checkAudit(t, refused)
}

// attempt calls a method as somebody of globex and returns the code and what is
// said, with KG and RUN for the names that stood there. None of words may be in
// it that was not in the request.
func (m tenanted) attempt(t *testing.T, stage string, method protoreflect.MethodDescriptor, request, kg, run string, words []string) (codes.Code, string) {
	t.Helper()
	request = strings.NewReplacer("KG", kg, "MINE", mine, "RUN", run).Replace(request)
	answers, err := call(bearing(t, m.globex), m.conns[stage], method, request)
	st := status.Convert(err)
	said := prototext.Format(st.Proto())
	for _, a := range answers {
		said += prototext.Format(a)
	}
	for _, word := range words {
		if strings.Contains(said, word) && !strings.Contains(request, word) {
			t.Errorf("%s %s tells of %q: %s", method.FullName(), request, word, said)
		}
	}
	return st.Code(), strings.NewReplacer(kg, "KG", run, "RUN").Replace(st.Message())
}

// checkAudit looks for a line of each refusal, and for what must not be in one.
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
		if line.Tenant == "globex" && line.Subject == "gus" && line.Via == "" && (line.Code == "NOT_FOUND" || line.Code == "PERMISSION_DENIED") {
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

// TestNoNameLeadsToAnotherTenant puts paths where names of knowledge graphs and
// runs go.
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
			for _, path := range []string{"@acme/plans", "../@acme/plans", "./../@acme/plans", "@acme", "..", ".", "plans/1", "/plans", "Acme", "@globex/../@acme/plans"} {
				code, says := m.attempt(t, stage, method, request, path, path, []string{"film theory", employer})
				// A filter that matches nothing is no fault.
				if code != codes.InvalidArgument && code != codes.NotFound && !(code == codes.OK && method.Name() == "ListRuns") {
					t.Errorf("%s with %q: %v: %s", method.FullName(), path, code, says)
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

// TestNobodyChoosesTheirTenant calls every method with a claim to be another
// tenant's, and as nobody.
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
			// A claim does not stand in for a token.
			ctx = metadata.AppendToOutgoingContext(within(t, patience), claim...)
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

func TestWhereNobodyIsAskedNobodyIsAnotherTenant(t *testing.T) {
	m := start(t, options{data: t.TempDir(), model: scripted(t)})
	eachMethod(func(method protoreflect.MethodDescriptor, stage string, _ authv1.Scope) {
		ctx := metadata.AppendToOutgoingContext(within(t, patience), auth.TenantKey, "acme")
		if _, err := call(ctx, m.dial(t, stage), method, ""); status.Code(err) != codes.PermissionDenied {
			t.Errorf("%s: %v", method.FullName(), err)
		}
	})
}

// TestTenantsUseTheSameNamesAndQuestionsApart has two tenants ask the same
// question over knowledge graphs of one name.
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
		run := m.asked(t, c.token, plans)
		if names(run) != employer || run.GetKg().GetSnapshot() != c.snapshot {
			t.Errorf("%s is answered %q from snapshot %d, want %d", c.who, names(run), run.GetKg().GetSnapshot(), c.snapshot)
		}
		if u := run.GetUsage(); (u.GetCalls() == 0) != c.cached || (u.GetCachedCalls() > 0) != c.cached {
			t.Errorf("%s: %d calls and %d cached ones; all cached: want %v", c.who, u.GetCalls(), u.GetCachedCalls(), c.cached)
		}
	}
	before := m.has(t, m.acme)
	if _, err := m.graphs.Drop(bearing(t, m.globex), &retrieverv1.DropRequest{Kg: &graphv1.KnowledgeGraphRef{Name: plans}}); err != nil {
		t.Fatal(err)
	}
	if after := m.has(t, m.acme); after != before {
		t.Errorf("after globex dropped its own acme has\n%s, had\n%s", after, before)
	}
	if _, err := m.orchestrator.Ask(bearing(t, m.globex), question("pg-akv")); status.Code(err) != codes.NotFound || strings.Contains(err.Error(), plans) {
		t.Errorf("globex, who has nothing left, asks: %v", err)
	}
	if run := m.asked(t, m.acme, plans); names(run) != employer {
		t.Errorf("acme is answered %q", names(run))
	}
}

func TestAllReadWhatIsShared(t *testing.T) {
	m := startTenanted(t, options{data: t.TempDir(), model: scripted(t), set: map[string]string{"retriever.store.shared": "acme"}})
	m.load(t, m.acme, plans, "Robert Stam\temployer\tNew York University\n")
	if run := m.asked(t, m.globex, plans); names(run) != employer {
		t.Errorf("globex is answered %q", names(run))
	}
	listed, err := m.graphs.List(bearing(t, m.globex), &retrieverv1.ListRequest{})
	if err != nil || len(listed.GetSnapshots()) != 1 || !listed.GetSnapshots()[0].GetShared() {
		t.Errorf("globex lists %v, %v", listed, err)
	}
	if _, err := m.graphs.Drop(bearing(t, m.globex), &retrieverv1.DropRequest{Kg: &graphv1.KnowledgeGraphRef{Name: plans}}); status.Code(err) != codes.PermissionDenied {
		t.Errorf("globex drops it: %v", err)
	}
	m.load(t, m.globex, plans, "Robert Stam\temployer\tUniversity of Ljubljana\n")
	if run := m.asked(t, m.globex, plans); names(run) != otherEmployer {
		t.Errorf("globex, who has an own one now, is answered %q", names(run))
	}
	if run := m.asked(t, m.acme, plans); names(run) != employer {
		t.Errorf("acme is answered %q", names(run))
	}
}
