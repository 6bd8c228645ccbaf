package weaviate

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// fake is a Weaviate of one node in memory: the part of it that the store
// uses, with exact search. What it answers can be spoilt.
type fake struct {
	pb.UnimplementedWeaviateServer
	t *testing.T
	// nodes is how many it says there are, 0 for one.
	nodes int
	grpc  net.Listener
	http  *httptest.Server

	mutex   sync.Mutex
	classes map[string]class
	rows    map[string]map[string]*pb.BatchObject
	// Each may be set to see or spoil what is asked and answered.
	onSearch func(context.Context, *pb.SearchRequest, *pb.SearchReply) error
	onBatch  func(context.Context, *pb.BatchObjectsRequest) (*pb.BatchObjectsReply, error)
	onSchema func(*http.Request) int
	onNodes  func(*http.Request) bool
}

func newFake(t *testing.T) *fake {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, grpc: listener, classes: map[string]class{}, rows: map[string]map[string]*pb.BatchObject{}}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(largestMessage))
	pb.RegisterWeaviateServer(server, f)
	go func() { _ = server.Serve(listener) }()
	f.http = httptest.NewServer(http.HandlerFunc(f.schema))
	t.Cleanup(func() {
		server.Stop()
		f.http.Close()
	})
	return f
}

func (f *fake) config() Config {
	cfg := DefaultConfig()
	cfg.GRPC, cfg.HTTP, cfg.Dir = []string{f.grpc.Addr().String()}, []string{f.http.URL}, f.t.TempDir()
	// It compares every vector, which takes seconds on a machine that is busy.
	cfg.Attempts, cfg.Timeout = 2, time.Minute
	return cfg
}

// set changes the fake while it is asked.
func (f *fake) set(change func()) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	change()
}

func (f *fake) schema(w http.ResponseWriter, r *http.Request) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.onSchema != nil {
		if code := f.onSchema(r); code != 0 {
			w.WriteHeader(code)
			return
		}
	}
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/v1/schema"), "/")
	var sent class
	_ = json.NewDecoder(r.Body).Decode(&sent)
	found, there := f.classes[name]
	switch {
	case r.URL.Path == "/v1/nodes" || strings.HasPrefix(r.URL.Path, "/v1/nodes/"):
		nodes := []any{}
		for i := range max(f.nodes, 1) {
			if f.onNodes == nil || f.onNodes(r) {
				nodes = append(nodes, map[string]any{"name": fmt.Sprint("node", i), "status": "HEALTHY",
					"shards": []any{map[string]any{"name": "s"}}})
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"nodes": nodes})
	case r.Method == http.MethodGet && name == "":
		all := []class{}
		for _, def := range f.classes {
			all = append(all, def)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"classes": all})
	case r.Method == http.MethodPost:
		name, _ := sent["class"].(string)
		if _, there := f.classes[name]; there {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = w.Write([]byte("class " + name + " already exists"))
			return
		}
		f.classes[name], f.rows[name] = sent, map[string]*pb.BatchObject{}
	case !there:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		_ = json.NewEncoder(w).Encode(found)
	case r.Method == http.MethodPut:
		f.classes[name] = sent
	case r.Method == http.MethodDelete:
		delete(f.classes, name)
		delete(f.rows, name)
	}
}

func (f *fake) BatchObjects(ctx context.Context, req *pb.BatchObjectsRequest) (*pb.BatchObjectsReply, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.onBatch != nil {
		if reply, err := f.onBatch(ctx, req); reply != nil || err != nil {
			return reply, err
		}
	}
	for _, o := range req.Objects {
		rows, there := f.rows[o.Collection]
		if !there {
			return nil, status.Errorf(codes.Unknown, "could not find class %s in schema", o.Collection)
		}
		rows[o.Uuid] = o
	}
	return &pb.BatchObjectsReply{}, nil
}

func (f *fake) Aggregate(_ context.Context, req *pb.AggregateRequest) (*pb.AggregateReply, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	n := int64(0)
	for _, o := range f.rows[req.Collection] {
		if passes(o, req.Filters) {
			n++
		}
	}
	return &pb.AggregateReply{Result: &pb.AggregateReply_SingleResult{SingleResult: &pb.AggregateReply_Single{
		ObjectsCount: &n}}}, nil
}

func (f *fake) Search(ctx context.Context, req *pb.SearchRequest) (*pb.SearchReply, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	rows, there := f.rows[req.Collection]
	if !there {
		return nil, status.Errorf(codes.Unknown, "could not find class %s in schema", req.Collection)
	}
	var found []*pb.BatchObject
	for _, o := range rows {
		if passes(o, req.Filters) {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b *pb.BatchObject) int { return cmp.Compare(a.Uuid, b.Uuid) })
	if near := req.NearVector.GetVectors(); len(near) > 0 {
		query := floats(near[0].VectorBytes)
		scores := map[*pb.BatchObject]float32{}
		for _, o := range found {
			scores[o] = vector.Dot(query, floats(o.VectorBytes))
		}
		slices.SortStableFunc(found, func(a, b *pb.BatchObject) int { return cmp.Compare(scores[b], scores[a]) })
	}
	reply := &pb.SearchReply{}
	for _, o := range found[:min(len(found), int(req.Limit))] {
		result := &pb.SearchResult{Properties: &pb.PropertiesResult{NonRefProps: &pb.Properties{Fields: fieldsOf(o,
			req.Properties.GetNonRefProperties())}}, Metadata: &pb.MetadataResult{Id: o.Uuid}}
		if req.Metadata.GetVector() {
			result.Metadata.VectorBytes = o.VectorBytes
		}
		reply.Results = append(reply.Results, result)
	}
	if f.onSearch != nil {
		if err := f.onSearch(ctx, req, reply); err != nil {
			return nil, err
		}
	}
	return reply, nil
}

func floats(bytes []byte) []float32 {
	v := make([]float32, len(bytes)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*i:]))
	}
	return v
}

func fieldsOf(o *pb.BatchObject, wanted []string) map[string]*pb.Value {
	fields := map[string]*pb.Value{}
	for name, v := range o.Properties.NonRefProperties.GetFields() {
		switch text := v.GetStringValue(); {
		case name == propData:
			fields[name] = &pb.Value{Kind: &pb.Value_BlobValue{BlobValue: text}}
		default:
			fields[name] = &pb.Value{Kind: &pb.Value_IntValue{IntValue: int64(v.GetNumberValue())}}
		}
	}
	for name := range fields {
		if !slices.Contains(wanted, name) {
			delete(fields, name)
		}
	}
	return fields
}

// passes applies a filter as Weaviate would.
func passes(o *pb.BatchObject, f *pb.Filters) bool {
	if f == nil {
		return true
	}
	property := f.GetTarget().GetProperty()
	number := int64(o.Properties.NonRefProperties.GetFields()[property].GetNumberValue())
	switch f.Operator {
	case pb.Filters_OPERATOR_AND:
		return !slices.ContainsFunc(f.Filters, func(some *pb.Filters) bool { return !passes(o, some) })
	case pb.Filters_OPERATOR_CONTAINS_ANY:
		if property == "_id" {
			return slices.Contains(f.GetValueTextArray().GetValues(), o.Uuid)
		}
		return slices.Contains(f.GetValueIntArray().GetValues(), number)
	case pb.Filters_OPERATOR_GREATER_THAN_EQUAL:
		return number >= f.GetValueInt()
	case pb.Filters_OPERATOR_LESS_THAN_EQUAL:
		return number <= f.GetValueInt()
	}
	return false
}
