package calibrate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/triplemesh/triplemesh/internal/config"
)

// write sets retriever.grounding.<kg> in a configuration file, which is made if
// need be. What else the file says stays, comments too; comment is put over the
// setting. The file is replaced as a whole or not at all.
func write(path, kg string, setting Setting, comment string) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write the calibration: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("write the calibration: %s is no YAML: %w; mend it, or name another file by --out", path, err)
	}
	if document.Kind == 0 {
		document = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	node := document.Content[0]
	for _, key := range []string{"retriever", "grounding"} {
		if node, err = section(node, key); err != nil {
			return fmt.Errorf("write the calibration: %s: %w", path, err)
		}
	}
	setKey(node, kg, comment, setting.node())
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(&document), encoder.Close()); err != nil {
		return fmt.Errorf("write the calibration: %w", err)
	}
	if err := config.ReplaceFile(path, 0o644, out.Bytes()); err != nil {
		return fmt.Errorf("write the calibration: %w", err)
	}
	return nil
}

// section returns the mapping under a key, made if there is none.
func section(node *yaml.Node, key string) (*yaml.Node, error) {
	if node.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: want keys and values", node.Line)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value != key {
			continue
		}
		value := node.Content[i+1]
		if value.Tag == "!!null" {
			*value = yaml.Node{Kind: yaml.MappingNode}
		}
		if value.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("line %d: %s: want keys and values", value.Line, key)
		}
		return value, nil
	}
	value := &yaml.Node{Kind: yaml.MappingNode}
	node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	return value, nil
}

// setKey sets a key of a mapping in the place of an older one.
func setKey(node *yaml.Node, key, comment string, value *yaml.Node) {
	name := &yaml.Node{Kind: yaml.ScalarNode, Value: key, HeadComment: comment}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			node.Content = slices.Delete(node.Content, i, i+2)
			break
		}
	}
	node.Content = append(node.Content, name, value)
}

// node returns the setting as the configuration has it.
func (s Setting) node() *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	add := func(key, value string) {
		node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key},
			&yaml.Node{Kind: yaml.ScalarNode, Value: value})
	}
	add("preset", s.Preset)
	for _, p := range parameters {
		if v, ok := s.Values[p.name]; ok {
			add(p.name, number(v))
		}
	}
	return node
}
