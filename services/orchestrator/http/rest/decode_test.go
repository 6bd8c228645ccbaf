package rest

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// FuzzDecode: a body decodes to a question that round-trips, or is an invalid argument.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", " ", "{}", "null", "[]",
		`{"question": "who?", "kg": {"name": "wikidata", "snapshot": "1"}}`, `{"question": "\ud800"}`, `{"asks": 1}`,
		`{"budget": {"deadline": "1e3s"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		req := &orchestratorv1.AskRequest{}
		if err := decode(body, req); err != nil {
			if status.Code(err) != codes.InvalidArgument {
				t.Fatal(err)
			}
			return
		}
		written, err := protojson.Marshal(req)
		if err != nil {
			t.Fatalf("%q was taken and cannot be written: %v", body, err)
		}
		again := &orchestratorv1.AskRequest{}
		if err := decode(written, again); err != nil || !proto.Equal(again, req) {
			t.Errorf("%q is %v, written again %v, %v", body, req, again, err)
		}
	})
}
