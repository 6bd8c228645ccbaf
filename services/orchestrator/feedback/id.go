package feedback

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

// hashSize is the size of the hash in an id, in bytes: two of the some hundred marks of a run share
// one with a probability below 2^-60.
const hashSize = 10

var hash = regexp.MustCompile(`^[0-9a-f]{20}$`)

// ID returns the id of a caller's mark: that of the run, "-" and a hash of caller and item. So the
// marks of a run are neighbours in the order of ids, and there is one of each caller and item.
func ID(run, subject string, mark *orchestratorv1.Mark) string {
	sum := sha256.Sum256([]byte(subject + "\x00" + Item(mark)))
	return run + "-" + hex.EncodeToString(sum[:hashSize])
}

// Item identifies the item of a mark: items with the same identifier are the same, whatever is said
// of them.
func Item(mark *orchestratorv1.Mark) string {
	if t := mark.GetTriple(); t != nil {
		return strings.Join([]string{"triple", identify(t.GetSubjectId(), t.GetSubject()), foldCase(t.GetRelation()),
			identify(t.GetObjectId(), t.GetObject()), t.GetKgName()}, "\x00")
	}
	return "answer\x00" + identify(mark.GetAnswer().GetId(), mark.GetAnswer().GetAnswer())
}

// identify returns the id of an entity, or for what has none its name.
func identify(id, name string) string { return cmp.Or(id, foldCase(name)) }

// foldCase makes names comparable whatever their case and spaces. Signs stay: -5 is not 5.
func foldCase(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

// MatchTriples reports whether two triples say the same of the same: their ends are compared by id if both
// have one, and else by name.
func MatchTriples(a, b *graphv1.Triple) bool {
	return MatchTerms(a.GetSubjectId(), a.GetSubject(), b.GetSubjectId(), b.GetSubject()) &&
		foldCase(a.GetRelation()) == foldCase(b.GetRelation()) &&
		MatchTerms(a.GetObjectId(), a.GetObject(), b.GetObjectId(), b.GetObject()) &&
		(a.GetKgName() == b.GetKgName() || a.GetKgName() == "" || b.GetKgName() == "")
}

// MatchTerms reports whether two ends of triples, or two answers, are the same: by id if both have one,
// and else by name.
func MatchTerms(id, name, otherID, otherName string) bool {
	if id != "" && otherID != "" {
		return id == otherID
	}
	return foldCase(name) == foldCase(otherName)
}

// IsID reports whether a text has the form of a mark's id.
func IsID(text string) bool {
	_, ok := dayOf(text)
	return ok
}

// dayOf returns the UTC day of the run of a mark's id; false for an invalid id.
func dayOf(id string) (string, bool) {
	run, sum, _ := strings.Cut(id, "-")
	day, ok := runs.DayOfRun(run)
	return day, ok && hash.MatchString(sum)
}
