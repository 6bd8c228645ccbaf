package weaviate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/triplemesh/triplemesh/internal/tenant"
)

// Collections of a snapshot. Their names end in these.
const (
	factsPart     = "facts"
	entitiesPart  = "entities"
	relationsPart = "relations"
	namesPart     = "names"
)

var parts = []string{factsPart, entitiesPart, relationsPart, namesPart}

// separator parts what encoded never has: two underscores.
const separator = "__"

// longestPart keeps whole names under the 255 bytes that Weaviate allows.
const longestPart = 90

// encoded writes a name in lower-case letters, digits and underscores, so that
// no two names meet, whatever their case: Weaviate takes names for one that
// differ in case alone. Other bytes become "_" and two hex digits; what is too
// long becomes "_h" and a checksum.
func encoded(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	if b.Len() <= longestPart {
		return b.String()
	}
	sum := sha256.Sum256([]byte(name))
	return "_h" + hex.EncodeToString(sum[:20])
}

// home is the beginning of the names of all that one tenant has.
func home(prefix string, of tenant.ID) string {
	return prefix + separator + encoded(of.String()) + separator
}

// recordName is the collection that holds the record of a knowledge graph,
// lockName the one that is there while somebody changes it.
func recordName(home, kg string) string { return home + encoded(kg) + separator + "record" }
func lockName(home, kg string) string   { return home + encoded(kg) + separator + "lock" }

// collection is a part of a snapshot.
func collection(home, kg string, number uint64, part string) string {
	return fmt.Sprintf("%s%s%s%d%s%s", home, encoded(kg), separator, number, separator, part)
}
