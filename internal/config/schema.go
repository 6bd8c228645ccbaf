package config

import (
	"encoding"
	"reflect"
	"slices"
	"strings"
)

// tag is the struct tag that names keys, "-" for fields that are no settings.
const tag = "koanf"

// setting is one key of a configuration.
type setting struct {
	key    string        // dotted, "server.addr"
	value  reflect.Value // settable, of the configuration at hand
	help   string
	secret bool
}

// listSettings lists the settings below v, an addressable struct, in the order
// of its fields. Structs are sections; lists and maps are settings whole.
func listSettings(v reflect.Value, prefix string) []setting {
	var all []setting
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, inline, ok := fieldKey(field)
		switch {
		case !ok:
		case inline:
			all = append(all, listSettings(v.Field(i), prefix)...)
		case isSection(field.Type):
			all = append(all, listSettings(v.Field(i), prefix+name+".")...)
		default:
			all = append(all, setting{prefix + name, v.Field(i), field.Tag.Get("help"), isSecret(field)})
		}
	}
	return all
}

// fieldKey is a field's key. inline fields have none: their own fields stand
// in their place. ok is false for what is no setting.
func fieldKey(field reflect.StructField) (key string, inline, ok bool) {
	name, option, _ := strings.Cut(field.Tag.Get(tag), ",")
	switch {
	case name == "-" || !field.IsExported():
		return "", false, false
	case (field.Anonymous && name == "" || option == "squash") && isSection(field.Type):
		return "", true, true
	case !isStorable(field.Type):
		return "", false, false
	case name == "":
		return strings.ToLower(field.Name), false, true
	}
	return name, false, true
}

// isStorable reports whether values of a type can be written in a file.
func isStorable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		return false
	}
	return true
}

func isSection(t reflect.Type) bool { return t.Kind() == reflect.Struct && !isText(t) }

// isText reports whether a type unmarshals itself from text.
func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// isSecret goes by the name, so that a new key is hidden before anyone thinks
// of it, or by the tag secret:"true".
func isSecret(field reflect.StructField) bool {
	if field.Tag.Get("secret") != "" {
		return field.Tag.Get("secret") == "true"
	}
	key, _, _ := fieldKey(field)
	if field.Type.Kind() != reflect.String {
		return false
	}
	return secretName(key)
}

func secretName(key string) bool {
	return slices.ContainsFunc([]string{"api_key", "apikey", "password", "secret", "token", "credential"},
		func(word string) bool { return strings.HasSuffix(strings.ToLower(key), word) })
}
