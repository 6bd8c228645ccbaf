package runs

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestARecordIsARunToWhoeverReadsTheContract(t *testing.T) {
	run := &orchestratorv1.Run{Id: "01", Question: "why?", Subject: "ci"}
	record, err := encode(run)
	if err != nil {
		t.Fatal(err)
	}
	plain := &orchestratorv1.Run{}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(record, plain); err != nil || !proto.Equal(plain, run) {
		t.Errorf("it is %v, %v", plain, err)
	}
	if got, err := decode(record, "01"); err != nil || !proto.Equal(got, run) || len(got.ProtoReflect().GetUnknown()) > 0 {
		t.Errorf("it is read back as %v, %v", got, err)
	}
}

func FuzzDecode(f *testing.F) {
	record, err := encode(&orchestratorv1.Run{Id: "01", Question: "why?"})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{record, record[:4], record[sumSize:], nil, append(record, record...)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := decode(data, "01")
		if (err == nil) != (run.GetId() == "01") || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("got %v, %v", run, err)
		}
	})
}
