package config

import (
	"cmp"
	"encoding"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// redacted stands for a secret.
const redacted = "(hidden)"

// print writes the settings under the stage's name, as a file has them.
func (l *loading) print(w io.Writer) error {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, s := range l.settings {
		value, err := encode(s.value, s.secret)
		if err != nil {
			return fmt.Errorf("print %s: %w", s.key, err)
		}
		layer := cmp.Or(l.origin[s.key], "default")
		key := putValue(root, l.stage+"."+s.key, value)
		if value.Kind == yaml.ScalarNode || len(value.Content) == 0 {
			value.LineComment = layer
		} else {
			key.HeadComment = layer
		}
	}
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return encoder.Close()
}

// putValue places a value at a dotted key below node and returns the key's node.
func putValue(node *yaml.Node, key string, value *yaml.Node) *yaml.Node {
	name, rest, nested := strings.Cut(key, ".")
	if !nested {
		k := textScalar(name)
		node.Content = append(node.Content, k, value)
		return k
	}
	if n := len(node.Content); n == 0 || node.Content[n-2].Value != name {
		node.Content = append(node.Content, textScalar(name), &yaml.Node{Kind: yaml.MappingNode})
	}
	return putValue(node.Content[len(node.Content)-1], rest, value)
}

// encode writes a value as decode reads it.
func encode(v reflect.Value, secret bool) (*yaml.Node, error) {
	switch {
	case secret && !v.IsZero():
		return textScalar(redacted), nil
	case v.Type() == durationType:
		return textScalar(time.Duration(v.Int()).String()), nil
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return encode(v.Elem(), secret)
	}
	if text, ok := v.Interface().(encoding.TextMarshaler); ok && v.Kind() != reflect.Pointer {
		b, err := text.MarshalText()
		return textScalar(string(b)), err
	}
	switch v.Kind() {
	case reflect.Struct:
		return encodeStruct(v)
	case reflect.Map:
		return encodeMap(v)
	case reflect.Slice:
		return encodeList(v)
	}
	node := &yaml.Node{}
	return node, node.Encode(v.Interface())
}

func encodeStruct(v reflect.Value) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.MappingNode}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, ok := fieldKey(field)
		if !ok {
			continue
		}
		value, err := encode(v.Field(i), isSecret(field))
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, textScalar(name), value)
	}
	return node, nil
}

func encodeMap(v reflect.Value) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.MappingNode}
	values := map[string]reflect.Value{}
	for it := v.MapRange(); it.Next(); {
		values[it.Key().String()] = it.Value()
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value, err := encode(values[name], values[name].Kind() == reflect.String && secretName(name))
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, textScalar(name), value)
	}
	return node, nil
}

func encodeList(v reflect.Value) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range v.Len() {
		value, err := encode(v.Index(i), false)
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, value)
	}
	return node, nil
}

// textScalar quotes what YAML would read as something else.
func textScalar(text string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(text)
	node.Style = cmp.Or(node.Style, quoteFor(text))
	return node
}

// quoteFor keeps "8080" or "true" text when it is read back.
func quoteFor(text string) yaml.Style {
	plain := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if plain.ShortTag() != "!!str" {
		return yaml.DoubleQuotedStyle
	}
	return 0
}
