package openapi

import (
	"regexp"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// rulesOf are the rules by which a field is validated; nil where it has none.
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

// bound writes the rules of one value into its schema. A bound in bytes is one
// in characters too, if a wide one.
func bound(s object, rules *validate.FieldRules) {
	if rules == nil {
		return
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

// boundNumber reads the rules of any kind of number by their names, which are
// the same for all.
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
