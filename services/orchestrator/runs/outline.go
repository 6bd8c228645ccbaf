package runs

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// details are the fields of a run that a list leaves out: graphs, stages and
// spans. They are nearly all of its bytes.
var details = func() (numbers []protowire.Number) {
	fields := (&orchestratorv1.Run{}).ProtoReflect().Descriptor()
	for _, name := range []string{"stages", "spans"} {
		numbers = append(numbers, fields.Fields().ByTextName(name).Number())
	}
	graphs := fields.Oneofs().ByName("graphs").Fields()
	for i := range graphs.Len() {
		numbers = append(numbers, graphs.Get(i).Number())
	}
	return numbers
}()

// whole reads a serialised run.
func whole(data []byte) (*orchestratorv1.Run, error) {
	run := &orchestratorv1.Run{}
	return run, proto.Unmarshal(data, run)
}

// outline reads a serialised run without its details, which it steps over: a
// list that is searched reads every run there is.
func outline(data []byte) (*orchestratorv1.Run, error) {
	run := &orchestratorv1.Run{}
	merge := proto.UnmarshalOptions{Merge: true}
	begin := 0 // of what is read but not yet in run
	for at := 0; at < len(data); {
		number, _, n := protowire.ConsumeField(data[at:])
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		if slices.Contains(details, number) {
			if err := merge.Unmarshal(data[begin:at], run); err != nil {
				return nil, err
			}
			begin = at + n
		}
		at += n
	}
	return run, merge.Unmarshal(data[begin:], run)
}
