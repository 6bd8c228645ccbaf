package config

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// EnumName returns the value's name as users type it, without the enum's prefix, in lower case,
// with dashes: VERIFICATION_MODE_FROM_GROUND_GRAPH is "from-ground-graph". A number that the enum
// does not have is printed as the number.
func EnumName(value protoreflect.Enum) string {
	descriptor := value.Descriptor()
	v := descriptor.Values().ByNumber(value.Number())
	if v == nil {
		return fmt.Sprint(value.Number())
	}
	return shortEnumName(descriptor, v)
}

// EnumNames returns the names of all values but the unspecified one, in the order of their numbers.
func EnumNames[E protoreflect.Enum]() []string {
	var zero E
	descriptor := zero.Descriptor()
	var names []string
	for i := range descriptor.Values().Len() {
		if v := descriptor.Values().Get(i); v.Number() != 0 {
			names = append(names, shortEnumName(descriptor, v))
		}
	}
	return names
}

// ParseEnum parses a name that EnumName returned. The empty name is the unspecified value; the
// error for an unknown name lists the known ones.
func ParseEnum[E protoreflect.Enum](name string) (E, error) {
	var zero E
	if name == "" {
		return zero, nil
	}
	descriptor := zero.Descriptor()
	for i := range descriptor.Values().Len() {
		if v := descriptor.Values().Get(i); v.Number() != 0 && shortEnumName(descriptor, v) == name {
			return zero.Type().New(v.Number()).(E), nil
		}
	}
	return zero, fmt.Errorf("unknown value %q; it is one of %s", name, strings.Join(EnumNames[E](), ", "))
}

// shortEnumName cuts off the prefix of the enum's values: what precedes "UNSPECIFIED" in the name
// of the first one.
func shortEnumName(descriptor protoreflect.EnumDescriptor, v protoreflect.EnumValueDescriptor) string {
	prefix := strings.TrimSuffix(string(descriptor.Values().Get(0).Name()), "UNSPECIFIED")
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(string(v.Name()), prefix)), "_", "-")
}
