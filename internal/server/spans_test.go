package server_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// tree writes each span as the path of services and names that leads to it.
func tree(t *testing.T, spans []*orchestratorv1.Span) map[string]*orchestratorv1.Span {
	t.Helper()
	byID := map[string]*orchestratorv1.Span{}
	for _, s := range spans {
		byID[s.GetSpanId()] = s
	}
	paths := map[string]*orchestratorv1.Span{}
	for _, s := range spans {
		path := ""
		for at := s; at != nil; at = byID[at.GetParentSpanId()] {
			path = fmt.Sprintf("/%s:%s", at.GetService(), at.GetName()) + path
			if at.GetParentSpanId() != "" && byID[at.GetParentSpanId()] == nil {
				t.Errorf("the parent of %s is missing", path)
			}
		}
		paths[path] = s
	}
	return paths
}

// mesh is a reflector behind an orchestrator, which calls it through unary.
func mesh(t *testing.T, answer error) (near *running) {
	t.Helper()
	farTel, _ := telemetryFor(t, "inner")
	far := start(t, "reflector",
		answering(func(ctx context.Context, req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
			_, span := farTel.Tracer().Start(ctx, "think")
			span.End()
			if answer != nil {
				return nil, answer
			}
			return echo(ctx, req)
		}))
	nearTel, _ := telemetryFor(t, "orchestrator")
	conn, err := client.Dial(client.DefaultConfig(far.addr), nearTel)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return start(t, "orchestrator", streaming(func(_ *orchestratorv1.AskStreamRequest,
		stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
		ctx, span := nearTel.Tracer().Start(stream.Context(), "ger")
		defer span.End()
		_, err := reflectorv1.NewReflectorServiceClient(conn).Reflect(ctx, reflectRequest("why"))
		return err
	}))
}

func TestOneTreeOverSeveralServers(t *testing.T) {
	const (
		ask     = "triplemesh.orchestrator.v1.OrchestratorService/AskStream"
		reflect = "triplemesh.reflector.v1.ReflectorService/Reflect"
		server  = "/user:ask/caller:" + ask + "/orchestrator:" + ask + "/orchestrator:ger/orchestrator:" + reflect +
			"/reflector:" + reflect
	)
	for _, test := range []struct {
		name   string
		answer error
	}{
		{"an answered question", nil},
		{"a question that fails", status.Error(codes.NotFound, "no kg")},
	} {
		t.Run(test.name, func(t *testing.T) {
			near := mesh(t, test.answer)
			tel, _ := telemetryFor(t, "user")
			sink := telemetry.NewSpanSink()
			ctx, root := tel.Tracer().Start(telemetry.WithSpanSink(t.Context(), sink), "ask")
			stream, err := orchestratorv1.NewOrchestratorServiceClient(near.conn).AskStream(ctx, askStream)
			if err != nil {
				t.Fatal(err)
			}
			for err == nil {
				_, err = stream.Recv()
			}
			root.End()
			paths := tree(t, sink.Spans())
			for _, want := range []string{"/user:ask", server, server + "/inner:think"} {
				if paths[want] == nil {
					t.Errorf("span %s is missing; there are:", want)
					for path := range paths {
						t.Log(path)
					}
				}
			}
			if n := len(paths); n != 7 {
				t.Errorf("got %d spans, want 7", n)
			}
			client := paths[server[:len(server)-len("/reflector:"+reflect)]]
			if (client.GetError() != "") != (test.answer != nil) {
				t.Errorf("the client span has error %q for answer %v", client.GetError(), test.answer)
			}
		})
	}
}

func TestNoSpansComeBackUnasked(t *testing.T) {
	r := start(t, "reflector", answering(echo))
	if _, err := r.reflect(t.Context(), "why"); err != nil {
		t.Fatal(err)
	}
	sink := telemetry.NewSpanSink()
	if _, err := r.reflect(telemetry.WithSpanSink(t.Context(), sink), "why"); err != nil {
		t.Fatal(err)
	}
	// The client's and the server's, of the second call alone.
	if spans := sink.Spans(); len(spans) != 2 {
		t.Errorf("got spans %v, want 2", spans)
	}
}
