package sft

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// formatRoGPath writes a relation path as RoG's planner speaks (Ger §3.2). The
// notation has no direction.
func formatRoGPath(steps []*graphv1.RelationStep) string {
	relations := make([]string, len(steps))
	for i, s := range steps {
		relations[i] = s.GetRelation()
	}
	return "<PATH> " + strings.Join(relations, " <SEP> ") + " </PATH>"
}

// formatBraces writes answers as the stages read them.
func formatBraces(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("{" + name + "}")
	}
	return b.String()
}

// dropUnquotable leaves out the names that braces cannot hold.
func dropUnquotable(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.ContainsAny(name, "{}\n") })
}

// verdictText writes a verdict on a set as the evaluator's examples do.
func verdictText(reason string, correct, incomplete bool) string {
	return fmt.Sprintf(`{"reason": %s, "correct": %t, "incomplete": %t}`, quoteJSON(reason), correct, incomplete)
}

// answersText writes final answers as the reflector's examples do.
func answersText(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = quoteJSON(name)
	}
	return `{"answers": [` + strings.Join(list, ", ") + `]}`
}

func quoteJSON(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string into memory
	return strings.TrimSpace(b.String())
}

const (
	// maxReasonRunes is what the evaluator lets a reason have, in letters.
	maxReasonRunes = 160
	// maxNamesInReason is how many names a reason spells out of each kind.
	maxNamesInReason = 2
)

// reason says of a set which of its candidates are right and wrong, and what is
// missing.
func reason(right, wrong, missing []string) string {
	said := func(list func([]string) string) string {
		var parts []string
		for _, kind := range []struct {
			names []string
			word  string
		}{{right, "right"}, {wrong, "wrong"}, {missing, "missing"}} {
			if len(kind.names) > 0 {
				verb := " are "
				if len(kind.names) == 1 {
					verb = " is "
				}
				parts = append(parts, list(kind.names)+verb+kind.word)
			}
		}
		return strings.Join(parts, ", ")
	}
	text := said(func(names []string) string {
		if len(names) > maxNamesInReason {
			return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamesInReason], ", "),
				len(names)-maxNamesInReason)
		}
		return strings.Join(names, " and ")
	})
	if utf8.RuneCountInString(text) <= maxReasonRunes {
		return text
	}
	return said(func(names []string) string { return fmt.Sprint(len(names)) })
}
