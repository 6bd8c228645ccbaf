package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/bench/load"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/cli"
	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// orchestrator answers every question alike.
type orchestrator struct {
	orchestratorv1.UnimplementedOrchestratorServiceServer
	addr  string
	err   error
	onAsk func() // nil for none
	run   *orchestratorv1.Run
}

// serve starts the orchestrator at a free port.
func serve(t *testing.T, s *orchestrator) *orchestrator {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	server := grpc.NewServer()
	orchestratorv1.RegisterOrchestratorServiceServer(server, s)
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(l) }()
	t.Cleanup(func() { server.Stop(); <-ended })
	return s
}

// runBench runs a command line in this process.
func runBench(t *testing.T, ctx context.Context, args ...string) testkit.Output {
	t.Helper()
	return testkit.RunCommand(t, func(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
		return run(ctx, args, nil, stdin, stdout, stderr)
	}, "", args...)
}

func (s *orchestrator) Ask(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
	if s.onAsk != nil {
		s.onAsk()
	}
	if s.run != nil {
		return &orchestratorv1.AskResponse{Run: s.run}, nil
	}
	return &orchestratorv1.AskResponse{Run: &orchestratorv1.Run{Text: "It is {Ada}."}}, s.err
}

func questionsFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "questions.txt")
	if err := os.WriteFile(file, []byte("Who?\nWhere?\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLoadAsksAMesh(t *testing.T) {
	s := serve(t, &orchestrator{})
	plot := filepath.Join(t.TempDir(), "run.svg")
	o := runBench(t, t.Context(), "load", "--server", s.addr, "--kg", "films", "--questions", questionsFile(t),
		"--rate", "20,40", "--duration", "300ms", "--plot", plot)
	o.Expect(t, cli.ExitOK, "goodput/s", "20.0", "40.0")
	if drawn, err := os.ReadFile(plot); err != nil || !strings.Contains(string(drawn), "<svg") {
		t.Errorf("it drew %q, %v", drawn, err)
	}
}

func TestLoadTellsWhatItCannot(t *testing.T) {
	s := serve(t, &orchestrator{err: status.Error(codes.Internal, "no")})
	questions := questionsFile(t)
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no questions", nil, cli.ExitUsage, "--scripted"},
		{"a rate that is none", []string{"--questions", questions, "--rate", "fast"}, cli.ExitUsage, "--rate"},
		{"a plot of no kind", []string{"--questions", questions, "--plot", "x.png"}, cli.ExitUsage, ".svg or .html"},
		{"a tenant without a weight", []string{"--questions", questions, "--tenant", "acme"}, cli.ExitUsage, "WEIGHT"},
		{"no places at all", []string{"--questions", questions, "--kg", "films", "--in-flight", "0"},
			cli.ExitUsage, "at least 1"},
		{"a mesh that answers nothing", []string{"--questions", questions, "--kg", "films", "--overload", "--find",
			"200ms", "--rate", "50"}, cli.ExitFailed, "triplemesh ask"},
	} {
		t.Run(c.name, func(t *testing.T) {
			runBench(t, t.Context(), append([]string{"load", "--server", s.addr}, c.args...)...).Expect(t,
				c.code, c.says)
		})
	}
}

func TestLoadPrintsWhatItHasWhenItIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, &orchestrator{onAsk: cancel})
	o := runBench(t, ctx, "load", "--server", s.addr, "--kg", "films", "--questions",
		questionsFile(t), "--rate", "50", "--duration", "1h")
	o.Expect(t, cli.ExitFailed, "goodput/s", "interrupted")
}

func TestLoadSaysWhatTheClientRefusedItself(t *testing.T) {
	full, err := status.New(codes.ResourceExhausted, "40 requests are under way").WithDetails(
		&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, &orchestrator{err: full.Err()})
	args := []string{"load", "--server", s.addr, "--kg", "films", "--questions", questionsFile(t), "--rate",
		"1000", "--duration", "1s"}
	runBench(t, t.Context(), args...).Expect(t, cli.ExitOK, "refused as ResourceExhausted",
		"refused by the client itself as ResourceExhausted, saying when to come again")
	if o := runBench(t, t.Context(), append(args, "--heedless")...); strings.Contains(o.Stdout, "by the client") ||
		!strings.Contains(o.Stdout, "refused as ResourceExhausted") {
		t.Errorf("--heedless printed %s%s", o.Stdout, o.Stderr)
	}
}

// One tenant asks for many times what the mesh can do, another for less than its
// half: whatever the first one loses, the second one loses nothing.
func TestAGreedyTenantCostsAnotherNothing(t *testing.T) {
	cache := filepath.Dir(filepath.Dir(testkit.Cache(t, "encoder", "model.onnx")))
	o := runBench(t, t.Context(), "--cache", cache, "--set", "server.max_in_flight=4", "--set", "server.max_queue=8",
		"--set", "server.max_wait=1m",
		"load", "--scripted", "--latency", "50ms", "--capacity", "2", "--method", "io", "--rate", "210",
		"--duration", "2s", "--timeout", "2m",
		"--tenant", "20", "--tenant", "1", "--json")
	var report load.Report
	if err := json.Unmarshal([]byte(o.Stdout), &report); err != nil {
		t.Fatalf("%v: %s%s", err, o.Stdout, o.Stderr)
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
