package claim

import (
	"regexp"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// year is a year of four digits, where a sentence says when something was so.
const year = `([12][0-9]{3})`

// Ways to say when something was so. A model of the kind that reads the claims
// leaves them out as often as not.
var (
	fromTo = regexp.MustCompile(`(?i)\b(?:from|between)\s+(?:\w+\s+)?` + year + `\s*(?:to|until|till|and|through|-|–)\s*(?:\w+\s+)?` + year + `\b`)
	since  = regexp.MustCompile(`(?i)\bsince\s+(?:\w+\s+)?` + year + `\b`)
	until  = regexp.MustCompile(`(?i)\b(?:until|till)\s+(?:\w+\s+)?` + year + `\b`)
	during = regexp.MustCompile(`(?i)\b(?:in|during)\s+(?:[A-Z]\w+\s+)?` + year + `\b`)
)

// held is the time at which a sentence says that a claim held; nil where it says
// none, or only in the claim's own object.
func held(sentence, object string) *graphv1.ValidityInterval {
	var v *graphv1.ValidityInterval
	if m := fromTo.FindStringSubmatch(sentence); m != nil {
		v = &graphv1.ValidityInterval{Start: m[1], End: m[2]}
	} else if m := since.FindStringSubmatch(sentence); m != nil {
		v = &graphv1.ValidityInterval{Start: m[1]}
	} else if m := until.FindStringSubmatch(sentence); m != nil {
		v = &graphv1.ValidityInterval{End: m[1]}
	} else if m := during.FindStringSubmatch(sentence); m != nil {
		v = &graphv1.ValidityInterval{Start: m[1], End: m[1]}
	}
	if v != nil && (v.Start != "" && strings.Contains(object, v.Start) || v.End != "" && strings.Contains(object, v.End)) {
		return nil
	}
	return v
}
