package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

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
