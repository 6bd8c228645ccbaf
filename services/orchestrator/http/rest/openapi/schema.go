package main

import (
	"cmp"
	"math"
	"regexp"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// contract makes schemas of messages as they are needed.
type contract struct {
	methods map[string]*protogen.Method // by full name
	schemas object
}

func newContract(p *protogen.Plugin, schemas object) *contract {
	c := &contract{methods: map[string]*protogen.Method{}, schemas: schemas}
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

// fields is the schema of a message without some of its fields, which are named by their paths.
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
			properties[name] = described(c.fields(f.Message, w, inner), commentText(f.Comments.Leading))
		}
		if w == in && inner == nil && mustBeSet(f) {
			required = append(required, name)
		}
	}
	s := object{"type": "object", "properties": properties}
	if text := commentText(m.Comments.Leading); text != "" {
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

func (c *contract) field(f *protogen.Field, w way) object {
	text := commentText(f.Comments.Leading)
	switch {
	case f.Desc.IsMap():
		value := f.Message.Fields[1]
		return described(object{"type": "object", "additionalProperties": c.fieldSchema(value, w)}, text)
	case f.Desc.IsList():
		s := object{"type": "array", "items": c.fieldSchema(f, w)}
		if w == in {
			boundList(s, f)
		}
		return described(s, text)
	}
	s := c.fieldSchema(f, w)
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

// fieldSchema is the schema of a field's value, or of each of its values.
func (c *contract) fieldSchema(f *protogen.Field, w way) object {
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
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return object{"type": "integer", "format": "uint32", "minimum": 0, "maximum": uint32(1<<32 - 1)}
	case protoreflect.Int32Kind:
		return object{"type": "integer", "format": "int32", "minimum": -1 << 31, "maximum": 1<<31 - 1}
	case protoreflect.Uint64Kind, protoreflect.Int64Kind:
		return integer64(f.Desc.Kind(), w)
	case protoreflect.EnumKind:
		return c.enum(f.Enum)
	}
	switch f.Message.Desc.FullName() { // those that JSON writes in its own way
	case "google.protobuf.Timestamp":
		return object{"type": "string", "format": "date-time"}
	case "google.protobuf.Duration":
		return object{"type": "string", "pattern": `^-?[0-9]{1,12}(\.[0-9]{1,9})?s$`}
	}
	return c.message(f.Message, w)
}

// integer64 goes out as a string, because JSON's numbers have 53 bits in many a
// language; numbers come in too.
func integer64(kind protoreflect.Kind, w way) object {
	s := object{"type": "string", "format": kind.String(), "pattern": "^(0|-?[1-9][0-9]{0,18})$"}
	if kind == protoreflect.Uint64Kind {
		s["pattern"] = "^(0|[1-9][0-9]{0,18})$"
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
		values, lines := list{}, []string{commentText(e.Comments.Leading), ""}
		for _, v := range e.Values {
			values = append(values, string(v.Desc.Name()))
			lines = append(lines, "- "+string(v.Desc.Name())+": "+cmp.Or(commentText(v.Comments.Leading),
				"see the contract"))
		}
		c.schemas[name] = object{"type": "string", "enum": values,
			"description": strings.TrimSpace(strings.Join(lines, "\n"))}
	}
	return ref(name)
}

// rulesOf are the rules by which a field is validated; nil if it has none.
func rulesOf(f *protogen.Field) *validate.FieldRules {
	options, ok := f.Desc.Options().(*descriptorpb.FieldOptions)
	if !ok || !proto.HasExtension(options, validate.E_Field) {
		return nil
	}
	rules, _ := proto.GetExtension(options, validate.E_Field).(*validate.FieldRules)
	return rules
}

// mustBeSet says that a request without the field is refused: it is required, or
// its rules refuse the value that an unset field has.
func mustBeSet(f *protogen.Field) bool {
	rules := rulesOf(f)
	switch {
	case rules == nil:
		return false
	case rules.GetRequired():
		return true
	case f.Desc.HasPresence():
		return false
	}
	text := rules.GetString()
	switch {
	case text.GetMinLen() > 0 || text.GetMinBytes() > 0 || rules.GetRepeated().GetMinItems() > 0:
		return true
	case text.GetPattern() != "":
		pattern, err := regexp.Compile(text.GetPattern())
		return err == nil && !pattern.MatchString("")
	}
	return false
}

// boundList writes the rules of a list, and of its items, into its schema.
func boundList(s object, f *protogen.Field) {
	rules := rulesOf(f).GetRepeated()
	if rules.GetMinItems() > 0 {
		s["minItems"] = rules.GetMinItems()
	}
	if rules.HasMaxItems() {
		s["maxItems"] = rules.GetMaxItems()
	}
	if rules.GetUnique() {
		s["uniqueItems"] = true
	}
	items, _ := s["items"].(object)
	bound(items, rules.GetItems())
}

// matching is a CEL rule that is a pattern, with a message of its own.
var matching = regexp.MustCompile(`^this\.matches\('([^'\\]*)'\)$`)

// bound writes the rules of one value into its schema. A bound in bytes is one
// in characters too, if a wide one.
func bound(s object, rules *validate.FieldRules) {
	if rules == nil {
		return
	}
	for _, rule := range rules.GetCel() {
		if match := matching.FindStringSubmatch(rule.GetExpression()); match != nil {
			s["pattern"] = match[1]
		}
	}
	switch {
	case rules.HasString():
		boundText(s, rules.GetString())
	case rules.HasUint32(), rules.HasUint64(), rules.HasInt32(), rules.HasInt64(), rules.HasFloat(), rules.HasDouble():
		boundNumber(s, rules)
	}
}

func boundText(s object, r *validate.StringRules) {
	if n := max(r.GetMinLen(), min(r.GetMinBytes(), 1)); n > 0 {
		s["minLength"] = n
	}
	switch {
	case r.HasMaxLen():
		s["maxLength"] = r.GetMaxLen()
	case r.HasMaxBytes():
		s["maxLength"] = r.GetMaxBytes()
	}
	if r.GetPattern() != "" {
		s["pattern"] = r.GetPattern()
	}
	if len(r.GetIn()) > 0 {
		s["enum"] = r.GetIn()
	}
}

// boundNumber reads the rules of any kind of number by their names, which are the same for all.
func boundNumber(s object, rules *validate.FieldRules) {
	rules.ProtoReflect().Range(func(kind protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if kind.Message() == nil {
			return true
		}
		v.Message().Range(func(rule protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			if key := numberKeys[rule.Name()]; key != "" {
				s[key] = v.Interface()
			}
			return true
		})
		return true
	})
}

var numberKeys = map[protoreflect.Name]string{
	"gte": "minimum", "lte": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum",
}
