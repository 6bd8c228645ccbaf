package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/hbollon/go-edlib"
	"go.yaml.in/yaml/v3"
)

// readFile takes the shared sections of a file, then the stage's own. Sections
// of other stages are theirs to check.
func (l *loading) readFile(path string) error {
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read file: %w", err)
	}
	if err := l.readYAML("file "+path, data); err != nil {
		return fmt.Errorf("file %s: %w", path, err)
	}
	return nil
}

func (l *loading) readYAML(layer string, data []byte) error {
	root, err := parseYAML(data)
	if err != nil || root == nil {
		return err
	}
	sections := map[string]*yaml.Node{}
	err = eachKey(root, func(name string, value *yaml.Node) error {
		sections[name] = value
		if name == l.stage || slices.Contains(sharedSections, name) || slices.Contains(stages, name) {
			return nil
		}
		if l.find(name) != nil || l.hasSection(name) {
			return fmt.Errorf("line %d: the key %s belongs in a stage's section: %s.%s", value.Line,
				name, l.stage, name)
		}
		return atLine(value, unknownKey(name, slices.Concat(sharedSections, stages)))
	})
	if err != nil {
		return err
	}
	for _, name := range sharedSections {
		if section := sections[name]; section != nil && l.hasSection(name) {
			if err := l.readSection(layer, "", name, section); err != nil {
				return err
			}
		}
	}
	if section := sections[l.stage]; section != nil {
		return l.readSection(layer, l.stage+".", "", section)
	}
	return nil
}

// readSection takes the settings below key. said is what the file has before
// the key: the stage's name in its own section.
func (l *loading) readSection(layer, said, key string, node *yaml.Node) error {
	if s := l.find(key); s != nil {
		if err := decode(node, s.value, said+key); err != nil {
			return atLine(node, err)
		}
		l.origin[key] = layer
		return nil
	}
	if key != "" && !l.hasSection(key) {
		return atLine(node, unknownKey(said+key, l.keys(said)))
	}
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if isNull(node) {
		return nil
	}
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: %s: %s: want keys and values", node.Line, said+key, formatValue(node, key))
	}
	return eachKey(node, func(name string, value *yaml.Node) error {
		if key != "" {
			name = key + "." + name
		}
		return l.readSection(layer, said, name, value)
	})
}

// parseYAML reads the one document of a file; nil where it is empty.
func parseYAML(data []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	err := decoder.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && (len(doc.Content) == 0 || isNull(doc.Content[0])) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("a second document follows the first; leave one")
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: want keys and values: sections such as %s", doc.Content[0].Line, stages[0])
	}
	return doc.Content[0], nil
}

func atLine(node *yaml.Node, err error) error { return fmt.Errorf("line %d: %w", node.Line, err) }

// unknownKey is the error of a key that is none of the known ones.
func unknownKey(key string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("unknown key %s", key)
	}
	return fmt.Errorf("unknown key %s; the nearest known key is %s", key, nearestKey(key, known))
}

// nearestKey is the first of the known keys with the fewest edits from word to it
// or to its last part: who writes "model" means "llm.model".
func nearestKey(word string, known []string) string {
	best, least := "", -1
	for _, k := range known {
		d := min(edlib.OSADamerauLevenshteinDistance(word, k),
			edlib.OSADamerauLevenshteinDistance(word, k[strings.LastIndex(k, ".")+1:]))
		if least < 0 || d < least {
			best, least = k, d
		}
	}
	return best
}

// NearestWord returns the known word that a slip of the finger makes out of another: with the
// fewest characters wrong, and no more than a third of them. It is empty where no word is near.
func NearestWord(word string, known []string) string {
	best, least := "", len([]rune(word))/3+2
	for _, k := range known {
		if d := edlib.OSADamerauLevenshteinDistance(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

func prependAll(prefix string, words []string) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = prefix + w
	}
	return all
}
