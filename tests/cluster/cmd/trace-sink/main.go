// Command trace-sink receives spans by OTLP and returns the latest by trace. It is a test fixture
// for the cluster, not a collector: it keeps a bounded number of traces in memory.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"flag"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// keep is the maximum number of traces; a question is one.
const keep = 2000

// span is the part of a span that is returned.
type span struct {
	Service string `json:"service"`
	Pod     string `json:"pod"`
	Name    string `json:"name"`
	ID      string `json:"id"`
	Parent  string `json:"parent,omitempty"`
}

type sink struct {
	collectorv1.UnimplementedTraceServiceServer

	mu     sync.Mutex
	traces map[string][]span
	order  []string // oldest first
}

func main() {
	otlp := flag.String("otlp", ":4317", "where to take spans by OTLP over gRPC")
	addr := flag.String("addr", ":8080", "where to answer GET /traces/{id} over HTTP")
	flag.Parse()
	s := &sink{traces: map[string][]span{}}
	lis, err := net.Listen("tcp", *otlp)
	if err != nil {
		log.Fatal(err)
	}
	g := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	collectorv1.RegisterTraceServiceServer(g, s)
	healthpb.RegisterHealthServer(g, health.NewServer())
	go func() { log.Fatal(g.Serve(lis)) }()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /traces/{id}", s.tell)
	log.Fatal((&http.Server{Addr: *addr, Handler: mux, ReadHeaderTimeout: 5 * time.Second}).ListenAndServe())
}

// Export implements collectorv1.TraceServiceServer.
func (s *sink) Export(_ context.Context,
	req *collectorv1.ExportTraceServiceRequest) (*collectorv1.ExportTraceServiceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rs := range req.GetResourceSpans() {
		of := span{}
		for _, a := range rs.GetResource().GetAttributes() {
			switch a.GetKey() {
			case "service.name":
				of.Service = a.GetValue().GetStringValue()
			case "k8s.pod.name":
				of.Pod = a.GetValue().GetStringValue()
			}
		}
		for _, scope := range rs.GetScopeSpans() {
			for _, got := range scope.GetSpans() {
				of.Name, of.ID, of.Parent = got.GetName(), hex.EncodeToString(got.GetSpanId()),
					hex.EncodeToString(got.GetParentSpanId())
				s.add(hex.EncodeToString(got.GetTraceId()), of)
			}
		}
	}
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

// add stores a span, and evicts the oldest trace if there are too many. s.mu is held.
func (s *sink) add(trace string, of span) {
	if _, ok := s.traces[trace]; !ok {
		s.order = append(s.order, trace)
	}
	s.traces[trace] = append(s.traces[trace], of)
	for len(s.order) > keep {
		delete(s.traces, s.order[0])
		s.order = s.order[1:]
	}
}

func (s *sink) tell(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	spans := s.traces[r.PathValue("id")]
	s.mu.Unlock()
	if spans == nil {
		http.Error(w, "no such trace", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(spans)
}
