package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// readFlags takes values by key: those for every stage, then the stage's own.
func (l *loading) readFlags(set map[string]string) error {
	own := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		switch first, rest, _ := strings.Cut(key, "."); {
		case l.find(key) != nil:
			if err := l.setFlag(key, key, set[key]); err != nil {
				return err
			}
		case first == l.stage:
			own[key] = rest
		case slices.Contains(stages, first) || slices.Contains(shared, first) && !l.hasSection(first):
		default:
			return fmt.Errorf("flag --%s: %w", key, unknownKey(key, l.keys("")))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		if l.find(own[key]) == nil {
			return fmt.Errorf("flag --%s: %w", key, unknownKey(key, l.keys(l.stage+".")))
		}
		if err := l.setFlag(key, own[key], set[key]); err != nil {
			return err
		}
	}
	return nil
}

func (l *loading) setFlag(flag, key, text string) error {
	if err := decodeText(text, l.find(key).value, key); err != nil {
		return fmt.Errorf("flag --%s: %w", flag, err)
	}
	l.origin[key] = "flag --" + flag
	return nil
}
