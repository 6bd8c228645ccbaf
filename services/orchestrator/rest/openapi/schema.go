package openapi

import (
	"cmp"
	"math"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// contract makes schemas of messages as they are needed.
type contract struct {
	methods map[string]*protogen.Method // by full name
	schemas object
}

func newContract(p *protogen.Plugin) *contract {
	c := &contract{methods: map[string]*protogen.Method{}, schemas: object{}}
	for _, f := range p.Files {
		for _, s := range f.Services {
			for _, m := range s.Methods {
				c.methods[string(m.Desc.FullName())] = m
			}
		}
	}
	return c
}

// way is which way a message goes. What comes in is held to rules; what goes out
// is more exactly known.
type way bool

const (
	in  way = true
	out way = false
)

// message points to the schema of a message.
func (c *contract) message(m *protogen.Message, w way) object {
	name := string(m.Desc.Name())
	if w == in && !strings.HasSuffix(name, "Request") {
		name += "Input"
	}
	if _, made := c.schemas[name]; !made {
		c.schemas[name] = object{} // it may hold itself
		c.schemas[name] = c.fields(m, w, nil)
	}
	return ref(name)
}

// fields is the schema of a message without some of its fields, which are named
// by their paths.
func (c *contract) fields(m *protogen.Message, w way, without []string) object {
	properties, required := object{}, list{}
	for _, f := range m.Fields {
		inner, left := pathsBelow(string(f.Desc.Name()), without)
		if left {
			continue
		}
		name := f.Desc.JSONName()
		if inner == nil {
			properties[name] = c.field(f, w)
		} else {
			properties[name] = described(c.fields(f.Message, w, inner), said(f.Comments.Leading))
		}
		if w == in && inner == nil && mustBeSet(f) {
			required = append(required, name)
		}
	}
	s := object{"type": "object", "properties": properties}
	if text := said(m.Comments.Leading); text != "" {
		s["description"] = text
	}
	if len(required) > 0 {
		s["required"] = required
	}
	if w == in {
		s["additionalProperties"] = false
	}
	return s
}

// pathsBelow are the rests of the paths that begin with a field; left says that
// the field itself is among them.
func pathsBelow(field string, paths []string) (below []string, left bool) {
	for _, p := range paths {
		first, rest, deeper := strings.Cut(p, ".")
		switch {
		case first != field:
		case !deeper:
			return nil, true
		default:
			below = append(below, rest)
		}
	}
	return below, false
}

// field is the schema of a field.
func (c *contract) field(f *protogen.Field, w way) object {
	text := said(f.Comments.Leading)
	switch {
	case f.Desc.IsMap():
		value := f.Message.Fields[1]
		return described(object{"type": "object", "additionalProperties": c.one(value, w)}, text)
	case f.Desc.IsList():
		s := object{"type": "array", "items": c.one(f, w)}
		if w == in {
			boundList(s, f)
		}
		return described(s, text)
	}
	s := c.one(f, w)
	if w == in {
		bound(s, rulesOf(f))
	}
	return described(s, text)
}

// described gives a schema a description. Beside a $ref it stands for itself.
func described(s object, text string) object {
	if text != "" {
		s["description"] = text
	}
	return s
}

// one is the schema of a field's value, or of each of its values.
func (c *contract) one(f *protogen.Field, w way) object {
	switch f.Desc.Kind() {
	case protoreflect.BoolKind:
		return object{"type": "boolean"}
	case protoreflect.StringKind:
		return object{"type": "string"}
	case protoreflect.BytesKind:
		return object{"type": "string", "contentEncoding": "base64"}
	case protoreflect.FloatKind:
		s := object{"type": "number", "format": "float"}
		if w == in {
			s["minimum"], s["maximum"] = -math.MaxFloat32, math.MaxFloat32
		}
		return s
	case protoreflect.DoubleKind:
		return object{"type": "number", "format": "double"}
	case protoreflect.Uint32Kind:
		return object{"type": "integer", "format": "uint32", "minimum": 0, "maximum": uint32(1<<32 - 1)}
	case protoreflect.Int32Kind:
		return object{"type": "integer", "format": "int32", "minimum": -1 << 31, "maximum": 1<<31 - 1}
	case protoreflect.Uint64Kind, protoreflect.Int64Kind:
		return integer64(f.Desc.Kind(), w)
	case protoreflect.EnumKind:
		return c.enum(f.Enum)
	}
	return wellKnown(f.Message, func() object { return c.message(f.Message, w) })
}

// integer64 goes out as a string, because JSON's numbers have 53 bits in many a
// language; numbers come in too.
func integer64(kind protoreflect.Kind, w way) object {
	s := object{"type": "string", "format": kind.String(), "pattern": "^-?[0-9]{1,19}$"}
	if kind == protoreflect.Uint64Kind {
		s["pattern"] = "^[0-9]{1,19}$"
	}
	if w == in {
		s["type"] = list{"string", "integer"}
		if kind == protoreflect.Uint64Kind {
			s["minimum"] = 0
		}
		s["maximum"] = int64(1<<63 - 1)
	}
	return s
}

func (c *contract) enum(e *protogen.Enum) object {
	name := string(e.Desc.Name())
	if _, made := c.schemas[name]; !made {
		values, lines := list{}, []string{said(e.Comments.Leading), ""}
		for _, v := range e.Values {
			values = append(values, string(v.Desc.Name()))
			lines = append(lines, "- "+string(v.Desc.Name())+": "+cmp.Or(said(v.Comments.Leading), "see the contract"))
		}
		c.schemas[name] = object{"type": "string", "enum": values, "description": strings.TrimSpace(strings.Join(lines, "\n"))}
	}
	return ref(name)
}

// wellKnown is the schema of a message that JSON writes in its own way, else
// what others says.
func wellKnown(m *protogen.Message, others func() object) object {
	switch m.Desc.FullName() {
	case "google.protobuf.Timestamp":
		return object{"type": "string", "format": "date-time"}
	case "google.protobuf.Duration":
		return object{"type": "string", "pattern": `^-?[0-9]{1,12}(\.[0-9]{1,9})?s$`}
	}
	return others()
}
