package neo4j

import (
	"regexp"
	"strings"
)

// plain are names that mean nothing to Cypher but themselves, in backticks.
var plain = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_ .-]*$`)

// quoted puts a name into a statement. Only plain names are; all others go as
// parameters, though Cypher has a way to quote them: some versions read \u0060
// as a backtick before they look at quotes.
func quoted(name string) (text string, ok bool) {
	if !plain.MatchString(name) {
		return "", false
	}
	return "`" + name + "`", true
}

// quotedTypes is the middle of [r:…] for some types; ok is false where one of
// them is not plain or they are too many for a statement that the server can
// remember.
func quotedTypes(types []string) (text string, ok bool) {
	if len(types) == 0 || len(types) > maxQuoted {
		return "", false
	}
	parts := make([]string, len(types))
	for i, t := range types {
		if parts[i], ok = quoted(t); !ok {
			return "", false
		}
	}
	return ":" + strings.Join(parts, "|"), true
}

// maxQuoted types are named in one statement. The server keeps the plans of
// some thousand statements, and planning takes longer than walking.
const maxQuoted = 2
