package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

var durationType = reflect.TypeFor[time.Duration]()

// decode reads a value of YAML into out. It is as strict as YAML allows: 1.5 is no integer, 30 is
// no duration, and a key that the type does not have is an error.
func decode(node *yaml.Node, out reflect.Value, key string) error {
	t := out.Type()
	if node.Kind == yaml.AliasNode {
		return decode(node.Alias, out, key)
	}
	switch {
	case isNull(node) && t.Kind() == reflect.Pointer:
		out.SetZero()
		return nil
	case isText(t) || isNull(node):
	case t == durationType && node.Value == "0":
		out.SetInt(0)
		return nil
	case t.Kind() == reflect.Pointer:
		out.Set(reflect.New(t.Elem()))
		return decode(node, out.Elem(), key)
	case t.Kind() == reflect.Struct:
		return decodeStruct(node, out, key)
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		return decodeMap(node, out, key)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return decodeList(node, out, key)
	}
	if isNull(node) {
		return fmt.Errorf("%s: no value: want %s, or leave the key out", key, typeName(t))
	}
	// YAML itself would cut 1.5 to 1.
	cut := out.CanInt() || out.CanUint()
	if node.Kind != yaml.ScalarNode || cut && node.ShortTag() == "!!float" ||
		node.Decode(out.Addr().Interface()) != nil {
		return fmt.Errorf("%s: %s: want %s", key, formatValue(node, key), typeName(t))
	}
	return nil
}

func decodeStruct(node *yaml.Node, out reflect.Value, key string) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("%s: %s: want keys and values", key, formatValue(node, key))
	}
	fields := map[string]reflect.Value{}
	var names []string
	for i := range out.NumField() {
		if name, _, ok := fieldKey(out.Type().Field(i)); ok {
			fields[name] = out.Field(i)
			names = append(names, name)
		}
	}
	return eachKey(node, func(name string, value *yaml.Node) error {
		field, ok := fields[name]
		if !ok {
			return unknownKey(key+"."+name, prependAll(key+".", names))
		}
		return decode(value, field, key+"."+name)
	})
}

func decodeMap(node *yaml.Node, out reflect.Value, key string) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("%s: %s: want keys and values", key, formatValue(node, key))
	}
	made := reflect.MakeMap(out.Type())
	err := eachKey(node, func(name string, value *yaml.Node) error {
		element := reflect.New(out.Type().Elem()).Elem()
		if err := decode(value, element, key+"."+name); err != nil {
			return err
		}
		made.SetMapIndex(reflect.ValueOf(name).Convert(out.Type().Key()), element)
		return nil
	})
	out.Set(made)
	return err
}

func decodeList(node *yaml.Node, out reflect.Value, key string) error {
	if node.Kind != yaml.SequenceNode {
		return fmt.Errorf("%s: %s: want a list", key, formatValue(node, key))
	}
	made := reflect.MakeSlice(out.Type(), len(node.Content), len(node.Content))
	for i, value := range node.Content {
		if err := decode(value, made.Index(i), fmt.Sprintf("%s[%d]", key, i)); err != nil {
			return err
		}
	}
	out.Set(made)
	return nil
}

// eachKey calls do with the keys and values of a mapping.
func eachKey(node *yaml.Node, do func(name string, value *yaml.Node) error) error {
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if key.Kind != yaml.ScalarNode {
			return fmt.Errorf("the key in line %d: want a plain word", key.Line)
		}
		if seen[key.Value] {
			return fmt.Errorf("the key %s in line %d stands there a second time; leave one", key.Value, key.Line)
		}
		seen[key.Value] = true
		if err := do(key.Value, node.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// formatValue is a value as an error tells it, unless its key says it is a secret.
func formatValue(node *yaml.Node, key string) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "keys and values"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case secretName(key):
		return redacted
	}
	return fmt.Sprintf("%q", node.Value)
}

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" }

func typeName(t reflect.Type) string {
	switch {
	case t == durationType:
		return "a duration with its unit, such as 30s"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		return "a whole number"
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		return "a whole number of 0 or more"
	}
	return t.String()
}

// decodeText reads a value of the environment or of a flag into out. Text is
// taken as it is; lists may be written a,b; all else is YAML.
func decodeText(text string, out reflect.Value, key string) error {
	node, err := textNode(text, out.Type())
	if err != nil {
		return fmt.Errorf("%s: want %s as YAML", key, typeName(out.Type()))
	}
	return decode(node, out, key)
}

func textNode(text string, t reflect.Type) (*yaml.Node, error) {
	plain := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	switch {
	case t.Kind() == reflect.Pointer:
		return textNode(text, t.Elem())
	case isText(t) || t == durationType || t.Kind() == reflect.String:
		return plain, nil
	case t.Kind() == reflect.Bool:
		// 1 and TRUE too, as programs are used to read from the environment.
		if b, err := strconv.ParseBool(text); err == nil {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(b)}, nil
		}
		return plain, nil
	case t.Kind() == reflect.Slice && !strings.HasPrefix(strings.TrimSpace(text), "["):
		return listNode(text, t.Elem())
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 {
		return plain, err
	}
	return doc.Content[0], nil
}

func listNode(text string, element reflect.Type) (*yaml.Node, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for part := range strings.SplitSeq(text, ",") {
		node, err := textNode(strings.TrimSpace(part), element)
		if err != nil {
			return nil, err
		}
		list.Content = append(list.Content, node)
	}
	return list, nil
}
