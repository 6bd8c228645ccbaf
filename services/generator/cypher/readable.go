package cypher

import (
	"strings"
	"unicode"
)

// readable turns an identifier into words: BORN_IN and bornIn are "born in".
func readable(identifier string) string {
	words := strings.FieldsFunc(identifier, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("_-./:`'\"", r)
	})
	if len(words) == 1 {
		words = camelWords(words[0])
	}
	for i, w := range words {
		words[i] = strings.ToLower(w)
	}
	return strings.Join(words, " ")
}

// camelWords splits camelCase, PascalCase and HTTPServer at its humps.
func camelWords(s string) []string {
	var words []string
	runes := []rune(s)
	from := 0
	for i := 1; i < len(runes); i++ {
		up := unicode.IsUpper(runes[i])
		hump := up && !unicode.IsUpper(runes[i-1]) ||
			up && i+1 < len(runes) && unicode.IsLower(runes[i+1]) && i-from > 1
		if hump {
			words = append(words, string(runes[from:i]))
			from = i
		}
	}
	return append(words, string(runes[from:]))
}

// readableVariable is the name that a variable gives its node: director,
// "soviet union" for sovietUnion, "Pink Floyd" for PinkFloyd or Pink_Floyd.
// Digits that only number the variable go: mountain2 is "mountain".
func readableVariable(name string) string {
	if strings.ContainsFunc(name, unicode.IsSpace) {
		return strings.Join(strings.Fields(name), " ")
	}
	if short := strings.TrimRight(name, "0123456789_"); len(short) > 2 {
		name = short
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' })
	if len(words) == 1 {
		words = camelWords(words[0])
	}
	if first, ok := firstRune(name); ok && unicode.IsLower(first) {
		for i, w := range words {
			if w != strings.ToUpper(w) {
				words[i] = strings.ToLower(w)
			}
		}
	}
	return strings.Join(words, " ")
}

func firstRune(s string) (rune, bool) {
	for _, r := range s {
		return r, true
	}
	return 0, false
}
