package testkit

import (
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// textOf is what a response says, without what it cost, what it warns of, and how
// sure a model was, which not every server tells.
func textOf(m proto.Message) string {
	if m == nil || !m.ProtoReflect().IsValid() {
		return ""
	}
	m = proto.Clone(m)
	forget(m.ProtoReflect())
	out, err := protojson.MarshalOptions{}.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// forget clears fields by name, at every depth.
func forget(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch f.Name() {
		case "usage", "warnings", "probability", "diagnostics":
			m.Clear(f)
			return true
		}
		switch {
		case f.IsList() && f.Message() != nil:
			for i := range v.List().Len() {
				forget(v.List().Get(i).Message())
			}
		case f.Message() != nil && !f.IsMap():
			forget(v.Message())
		}
		return true
	})
}
