package server

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// what names the things that an RPC is about.
type what struct {
	kg       string
	snapshot uint64
	run      string
}

// maxName bounds a name in bytes: a refused request's may be anything.
const maxName = 80

// within are the fields whose messages say what the message around them is
// about. Nothing else of a message is looked at: a question is none of the
// audit log's business.
var within = []protoreflect.Name{"request", "header", "result", "snapshot"}

// fill takes the names from a message, and keeps those that are known.
func (w *what) fill(m protoreflect.Message, depth int) {
	const deepest = 3
	if depth > deepest || !m.IsValid() {
		return
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		message := f.Kind() == protoreflect.MessageKind && !f.IsList() && !f.IsMap()
		text := f.Kind() == protoreflect.StringKind && !f.IsList()
		switch name := f.Name(); {
		case name == "kg" && text:
			w.setKG(v.String(), 0)
		case name == "kg" && message:
			ref := v.Message()
			w.setKG(textField(ref, "name"), numberField(ref, "snapshot"))
		case name == "run" && message:
			w.setRun(textField(v.Message(), "id"))
			w.fill(v.Message(), depth+1)
		case name == "id" && text && depth == 0:
			w.setRun(v.String())
		case message && slices.Contains(within, name):
			w.fill(v.Message(), depth+1)
		}
		return true
	})
}

func (w *what) setKG(name string, snapshot uint64) {
	if w.kg == "" {
		w.kg = short(name)
	}
	if w.snapshot == 0 {
		w.snapshot = snapshot
	}
}

func (w *what) setRun(id string) {
	if w.run == "" {
		w.run = short(id)
	}
}

func textField(m protoreflect.Message, name protoreflect.Name) string {
	if f := m.Descriptor().Fields().ByName(name); f != nil && f.Kind() == protoreflect.StringKind && !f.IsList() {
		return m.Get(f).String()
	}
	return ""
}

func numberField(m protoreflect.Message, name protoreflect.Name) uint64 {
	if f := m.Descriptor().Fields().ByName(name); f != nil && f.Kind() == protoreflect.Uint64Kind && !f.IsList() {
		return m.Get(f).Uint()
	}
	return 0
}

func short(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), maxName)], "")
}
