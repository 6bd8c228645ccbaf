package runs_test

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

func encode(t testing.TB, m proto.Message) []byte {
	t.Helper()
	data, err := runs.EncodeRecord(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRecordsParseAsTheirMessages(t *testing.T) {
	run := &orchestratorv1.Run{}
	if err := proto.Unmarshal(encode(t, &orchestratorv1.Run{Id: "01"}), run); err != nil || run.RecordChecksum == nil {
		t.Errorf("a run is %v, %v", run, err)
	}
	mark := &orchestratorv1.Feedback{}
	if err := proto.Unmarshal(encode(t, &orchestratorv1.Feedback{Id: "01"}), mark); err != nil ||
		mark.RecordChecksum == nil {
		t.Errorf("feedback is %v, %v", mark, err)
	}
}

func TestChangedRecordsAreDamaged(t *testing.T) {
	whole := encode(t, &orchestratorv1.Run{Id: "01", Question: "why?"})
	if message, err := runs.VerifyRecord(whole); err != nil || len(message) != len(whole)-6 {
		t.Fatalf("the whole record: %d bytes, %v", len(message), err)
	}
	for at := range whole {
		for bit := range 8 {
			changed := append([]byte(nil), whole...)
			changed[at] ^= 1 << bit
			if _, err := runs.VerifyRecord(changed); !errors.Is(err, runs.ErrDamaged) {
				t.Errorf("bit %d of byte %d flipped: %v", bit, at, err)
			}
		}
		if _, err := runs.VerifyRecord(whole[:at]); !errors.Is(err, runs.ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", at, err)
		}
	}
}
