package orchestrator_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// callers have a token each.
type callers map[string]string

// asking lets the orchestrator ask callers who they are. They are named by
// tenant and subject, "acme/ci".
func asking(t *testing.T, cfg *orchestrator.Config, names ...string) callers {
	t.Helper()
	var file auth.Tokens
	tokens := callers{}
	for _, name := range names {
		tokens[name] = auth.NewToken()
		scopes := []string{"ask"}
		switch {
		case strings.HasPrefix(filepath.Base(name), "admin"):
			scopes = []string{"admin"}
		case strings.HasPrefix(filepath.Base(name), "feedback"):
			scopes = append(scopes, "feedback:read")
		}
		file.Tokens = append(file.Tokens, auth.Token{
			Name: filepath.Base(name), Tenant: filepath.Dir(name), Scopes: scopes,
			SHA256: auth.Hash(tokens[name]),
		})
	}
	data, err := file.Format()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Server.Auth.TokensFile = filepath.Join(t.TempDir(), "tokens.yaml")
	if err := os.WriteFile(cfg.Server.Auth.TokensFile, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return tokens
}

// as is a context of a caller.
func (c callers) as(t *testing.T, name string) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+c[name])
}

func ids(list []*orchestratorv1.Run) []string {
	var all []string
	for _, r := range list {
		all = append(all, r.GetId())
	}
	return all
}

func TestTenantsSeeTheirOwnRunsAlone(t *testing.T) {
	for _, place := range []string{"file", "dir"} {
		t.Run(place, func(t *testing.T) {
			cfg := testConfig(t, stagetest.New(t))
			if place == "dir" {
				cfg.Runs.File, cfg.Runs.Dir = "", t.TempDir()
			}
			cfg.Runs.TenantWide = true
			who := asking(t, &cfg, "acme/ci", "acme/anna", "globex/bob")
			client := serveWith(t, cfg)
			asked := map[string][]string{}
			for range 2 {
				for _, name := range []string{"acme/ci", "globex/bob", "acme/anna"} {
					resp, err := client.Ask(who.as(t, name), film("pg-akv"))
					if err != nil {
						t.Fatal(err)
					}
					if subject := resp.GetRun().GetSubject(); subject != filepath.Base(name) {
						t.Errorf("%s asked, and the run says %q", name, subject)
					}
					asked[filepath.Dir(name)] = append([]string{resp.GetRun().GetId()}, asked[filepath.Dir(name)]...)
				}
			}
			theirs := map[string][2]string{"acme/anna": {"acme", "globex"}, "globex/bob": {"globex", "acme"}}
			for name, is := range theirs {
				ctx, own, others := who.as(t, name), asked[is[0]], asked[is[1]]
				_, unknown := client.GetRun(ctx, &orchestratorv1.GetRunRequest{Id: "none"})
				for _, id := range others {
					_, err := client.GetRun(ctx, &orchestratorv1.GetRunRequest{Id: id})
					if st, want := status.Convert(err), status.Convert(unknown); st.Code() != codes.NotFound ||
						st.Message() != strings.Replace(want.Message(), "none", id, 1) {
						t.Errorf("%s requested a run of another tenant: got %v, want the error of a run that does "+
							"not exist: %v",
							name, err, unknown)
					}
				}
				for _, id := range own {
					if _, err := client.GetRun(ctx, &orchestratorv1.GetRunRequest{Id: id}); err != nil {
						t.Errorf("%s asks for a run of its tenant: %v", name, err)
					}
				}
				for _, req := range []*orchestratorv1.ListRunsRequest{{}, {Method: "pg-akv"}, {KgName: "wikidata"},
					{PageSize: 1}, {PageSize: 2}, {PageToken: "02ZZZZZZZZZZZZZZZZZZZZZZZZ"}} {
					var listed []string
					req = proto.CloneOf(req)
					for {
						resp, err := client.ListRuns(ctx, req)
						if err != nil {
							t.Fatal(err)
						}
						listed = append(listed, ids(resp.GetRuns())...)
						if req.PageToken = resp.GetNextPageToken(); req.PageToken == "" {
							break
						}
					}
					if !slices.Equal(listed, own) {
						t.Errorf("%s lists %v and gets %q, want %q", name, req, listed, own)
					}
				}
				// The other's id as a page token is a time and no more.
				resp, err := client.ListRuns(ctx, &orchestratorv1.ListRunsRequest{PageToken: others[0]})
				if err != nil || slices.ContainsFunc(ids(resp.GetRuns()),
					func(id string) bool { return slices.Contains(others, id) }) {
					t.Errorf("%s lists from another tenant's run on: %v, %v", name, resp, err)
				}
			}
			if _, err := client.ListRuns(t.Context(),
				&orchestratorv1.ListRunsRequest{}); status.Code(err) != codes.Unauthenticated {
				t.Errorf("nobody lists runs: %v", err)
			}
		})
	}
}

func TestCallersSeeTheirOwnRunsAndAdminsThoseOfTheirTenant(t *testing.T) {
	cfg := testConfig(t, stagetest.New(t))
	who := asking(t, &cfg, "acme/ci", "acme/anna", "acme/admin", "globex/admin-2")
	client := serveWith(t, cfg)
	asked := map[string]string{}
	for _, name := range []string{"acme/ci", "acme/anna"} {
		resp, err := client.Ask(who.as(t, name), film("pg-akv"))
		if err != nil {
			t.Fatal(err)
		}
		asked[name] = resp.GetRun().GetId()
	}
	for reader, sees := range map[string][]string{
		"acme/ci": {"acme/ci"}, "acme/anna": {"acme/anna"}, "acme/admin": {"acme/anna", "acme/ci"},
		"globex/admin-2": nil,
	} {
		var want []string
		for _, name := range sees {
			want = append(want, asked[name])
		}
		resp, err := client.ListRuns(who.as(t, reader), &orchestratorv1.ListRunsRequest{})
		if err != nil || !slices.Equal(ids(resp.GetRuns()), want) {
			t.Errorf("%s lists %q, %v; want %q", reader, ids(resp.GetRuns()), err, want)
		}
		for name, id := range asked {
			code := codes.NotFound
			if slices.Contains(sees, name) {
				code = codes.OK
			}
			_, err := client.GetRun(who.as(t, reader), &orchestratorv1.GetRunRequest{Id: id})
			if status.Code(err) != code {
				t.Errorf("%s reads the run of %s: %v, want %v", reader, name, err, code)
			}
		}
	}
}

func TestOrchestratorsShareADirectoryOfRuns(t *testing.T) {
	mesh, dir := stagetest.New(t), t.TempDir()
	var clients []orchestratorv1.OrchestratorServiceClient
	for range 2 {
		cfg := testConfig(t, mesh)
		cfg.Runs.File, cfg.Runs.Dir = "", dir
		clients = append(clients, serveWith(t, cfg))
	}
	asked, err := clients[0].Ask(t.Context(), film("pg-akv"))
	if err != nil {
		t.Fatal(err)
	}
	// The one that answered has it on disk as soon as it has read it back.
	id := asked.GetRun().GetId()
	for i, client := range clients {
		kept, err := client.GetRun(t.Context(), &orchestratorv1.GetRunRequest{Id: id})
		if err != nil || !proto.Equal(kept.GetRun(), asked.GetRun()) {
			t.Errorf("orchestrator %d reads %v, %v", i, kept, err)
		}
		listed, err := client.ListRuns(t.Context(), &orchestratorv1.ListRunsRequest{})
		if err != nil || !slices.Equal(ids(listed.GetRuns()), []string{id}) {
			t.Errorf("orchestrator %d lists %v, %v", i, listed, err)
		}
	}
}

func TestADamagedRunIsDataLoss(t *testing.T) {
	cfg := testConfig(t, stagetest.New(t))
	cfg.Runs.File, cfg.Runs.Dir = "", t.TempDir()
	client := serveWith(t, cfg)
	asked, err := client.Ask(t.Context(), film("pg-akv"))
	if err != nil {
		t.Fatal(err)
	}
	req := &orchestratorv1.GetRunRequest{Id: asked.GetRun().GetId()}
	if _, err := client.GetRun(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(cfg.Runs.Dir, "@default", "*", "*.pb"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q, %v", files, err)
	}
	if err := os.Truncate(files[0], 50); err != nil {
		t.Fatal(err)
	}
	if _, err := client.GetRun(t.Context(), req); status.Code(err) != codes.DataLoss {
		t.Errorf("got %v", err)
	}
	if resp, err := client.ListRuns(t.Context(), &orchestratorv1.ListRunsRequest{}); err != nil ||
		len(resp.GetRuns()) != 0 {
		t.Errorf("listed %v, %v", resp, err)
	}
}
