package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/bench/load"
	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func (s *services) Ask(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
	if s.onAsk != nil {
		s.onAsk()
	}
	return &orchestratorv1.AskResponse{Run: s.run}, s.err
}

func questionsFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "questions.txt")
	if err := os.WriteFile(file, []byte("Who?\nWhere?\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestBenchLoadAsksAMesh(t *testing.T) {
	s := serve(t, &services{run: answered()})
	plot := filepath.Join(t.TempDir(), "run.svg")
	o := triplemesh(t, nil, "", "bench", "load", "--server", s.addr, "--kg", "films", "--questions", questionsFile(t), "--rate", "20,40", "--duration", "300ms", "--plot", plot)
	o.says(t, exitAnswered, "goodput/s", "20.0", "40.0")
	if drawn, err := os.ReadFile(plot); err != nil || !strings.Contains(string(drawn), "<svg") {
		t.Errorf("it drew %q, %v", drawn, err)
	}
}

func TestBenchLoadTellsWhatItCannot(t *testing.T) {
	s := serve(t, &services{err: status.Error(codes.Internal, "no")})
	questions := questionsFile(t)
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no questions", nil, exitUsage, "--scripted"},
		{"a rate that is none", []string{"--questions", questions, "--rate", "fast"}, exitUsage, "--rate"},
		{"a plot of no kind", []string{"--questions", questions, "--plot", "x.png"}, exitUsage, ".svg or .html"},
		{"a tenant without a weight", []string{"--questions", questions, "--tenant", "acme"}, exitUsage, "WEIGHT"},
		{"no places at all", []string{"--questions", questions, "--kg", "films", "--in-flight", "0"}, exitUsage, "at least 1"},
		{"a mesh that answers nothing", []string{"--questions", questions, "--kg", "films", "--overload", "--find", "200ms", "--rate", "50"}, exitFailed, "triplemesh ask"},
	} {
		t.Run(c.name, func(t *testing.T) {
			triplemesh(t, nil, "", append([]string{"bench", "load", "--server", s.addr}, c.args...)...).says(t, c.code, c.says)
		})
	}
}

func TestBenchLoadPrintsWhatItHasWhenItIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, &services{run: answered(), onAsk: cancel})
	o := triplemeshIn(t, ctx, nil, "", "bench", "load", "--server", s.addr, "--kg", "films", "--questions", questionsFile(t), "--rate", "50", "--duration", "1h")
	o.says(t, exitFailed, "goodput/s", "interrupted")
}

func TestBenchLoadSaysWhatTheClientRefusedItself(t *testing.T) {
	full, err := status.New(codes.ResourceExhausted, "40 requests are under way").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, &services{err: full.Err()})
	args := []string{"bench", "load", "--server", s.addr, "--kg", "films", "--questions", questionsFile(t), "--rate", "1000", "--duration", "1s"}
	triplemesh(t, nil, "", args...).says(t, exitAnswered, "refused as ResourceExhausted", "refused by the client itself as ResourceExhausted, saying when to come again")
	if o := triplemesh(t, nil, "", append(args, "--heedless")...); strings.Contains(o.stdout, "by the client") || !strings.Contains(o.stdout, "refused as ResourceExhausted") {
		t.Errorf("--heedless printed %s%s", o.stdout, o.stderr)
	}
}

// One tenant asks for many times what the mesh can do, another for less than its
// half: whatever the first one loses, the second one loses nothing.
func TestAGreedyTenantCostsAnotherNothing(t *testing.T) {
	cache := filepath.Dir(filepath.Dir(testkit.Cache(t, "encoder", "model.onnx")))
	o := triplemesh(t, nil, "", "--cache", cache, "--set", "server.max_in_flight=4", "--set", "server.max_queue=8", "--set", "server.max_wait=1m",
		"bench", "load", "--scripted", "--latency", "50ms", "--capacity", "2", "--method", "io", "--rate", "210", "--duration", "2s", "--timeout", "2m",
		"--tenant", "20", "--tenant", "1", "--json")
	var report load.Report
	if err := json.Unmarshal([]byte(o.stdout), &report); err != nil {
		t.Fatalf("%v: %s%s", err, o.stdout, o.stderr)
	}
	greedy, modest := report.Steps[0].Tenants[0], report.Steps[0].Tenants[1]
	if greedy.Refused == 0 || greedy.Whole == 0 {
		t.Errorf("the greedy tenant: got %+v, want some answered and some refused", greedy.Counts)
	}
	if modest.Sent == 0 || modest.Whole != modest.Sent {
		t.Errorf("the other one: got %+v, want all answered", modest.Counts)
	}
	for _, r := range greedy.Refusals {
		if !r.RetryInfo {
			t.Errorf("%d were refused without being told when to come again", r.Count)
		}
	}
}
