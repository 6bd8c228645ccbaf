package source

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

// MaxName is the longest name, key or literal in bytes, that of the contract.
const MaxName = 65536

// NormalizeName checks a name and puts it on one line: runs of white space and control
// characters become one space. what names it in errors.
func NormalizeName(what, name string) (string, error) {
	if !isPlain(name) {
		if !utf8.ValidString(name) {
			return "", fmt.Errorf("the %s is not UTF-8", what)
		}
		name = strings.Join(strings.FieldsFunc(name, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r)
		}), " ")
	}
	if name == "" {
		return "", fmt.Errorf("the %s is empty", what)
	}
	if len(name) > MaxName {
		return "", fmt.Errorf("the %s has %d bytes, the limit is %d", what, len(name), MaxName)
	}
	return name, nil
}

// isPlain reports whether a name is of printable ASCII with no two spaces together
// and none at its ends, as most are.
func isPlain(name string) bool {
	before := byte(' ')
	for i := range len(name) {
		c := name[i]
		if c < ' ' || c > '~' || (c == ' ' && before == ' ') {
			return false
		}
		before = c
	}
	return before != ' '
}

// dateTimePattern are ISO 8601 of any precision from the year down.
var dateTimePattern = regexp.MustCompile(`^[+-]?\d{4,9}(-\d\d(-\d\d(T[0-9:.]+(Z|[+-]\d\d:?\d\d)?)?)?)?$`)

// NormalizeDate checks a date: ISO 8601 of any precision from the year down, before
// Christ with a minus; or nothing. what names it in errors.
func NormalizeDate(what, date string) (string, error) {
	date = strings.TrimSpace(date)
	if date != "" && !isDay(date) && (len(date) > 64 || !dateTimePattern.MatchString(date)) {
		return "", fmt.Errorf("the %s %.40q is not an ISO 8601 date", what, date)
	}
	return strings.TrimPrefix(date, "+"), nil
}

// isDay reports whether a text is a date such as most are: 1952, 1952-03 or 1952-03-11.
func isDay(date string) bool {
	const form = "0000-00-00"
	if len(date) != 4 && len(date) != 7 && len(date) != 10 {
		return false
	}
	for i := range len(date) {
		if digit := date[i] >= '0' && date[i] <= '9'; digit != (form[i] == '0') || (!digit && date[i] != '-') {
			return false
		}
	}
	return true
}

// IsNumber reports whether a text is a number: digits with "." and "e" as in XSD.
func IsNumber(text string) bool {
	rest := trimSign(text)
	whole := countDigits(rest)
	rest = rest[whole:]
	part := 0
	if strings.HasPrefix(rest, ".") {
		part = countDigits(rest[1:])
		rest = rest[1+part:]
	}
	if whole+part == 0 {
		return false
	}
	if rest != "" && rest[0]|0x20 == 'e' {
		rest = trimSign(rest[1:])
		n := countDigits(rest)
		return n > 0 && n == len(rest)
	}
	return rest == ""
}

func trimSign(text string) string {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		return text[1:]
	}
	return text
}

// countDigits counts those that a text begins with.
func countDigits(text string) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// ReadableName is an IRI's local name as a person reads it; ok is false if there is none.
func ReadableName(iri string) (name string, ok bool) {
	name = kgtext.LocalName(iri)
	if strings.IndexByte(name, '%') >= 0 {
		if decoded, err := url.PathUnescape(name); err == nil {
			name = decoded
		}
	}
	clean, err := NormalizeName("name", strings.ReplaceAll(name, "_", " "))
	return clean, err == nil
}

// Languages ranks the languages of labels.
type Languages struct{ requested string }

// OtherLanguage is the rank of a language that was not requested.
const OtherLanguage = 3

// NewLanguages returns the ranks for callers that want a language; empty means "en".
func NewLanguages(wanted string) Languages {
	wanted = cmp.Or(wanted, "en")
	return Languages{strings.ToLower(wanted)}
}

// Rank prefers the requested language (0), then one of its kinds or the one it
// is a kind of (1), then a text without language (2), then any other.
func (l Languages) Rank(language string) int {
	switch {
	case language == l.requested:
		return 0
	case language == "":
		return 2
	}
	language = strings.ToLower(language)
	switch {
	case language == l.requested:
		return 0
	case isVariantOf(language, l.requested), isVariantOf(l.requested, language):
		return 1
	}
	return OtherLanguage
}

// isVariantOf reports whether a language such as "en-gb" is a kind of one such as "en".
func isVariantOf(special, general string) bool {
	return len(special) > len(general) && special[:len(general)] == general && special[len(general)] == '-'
}

// TrimMidnight shows a day that is written as its first instant as a day.
func TrimMidnight(date string) string {
	for _, midnight := range []string{"T00:00:00Z", "T00:00:00"} {
		if day, ok := strings.CutSuffix(date, midnight); ok {
			return day
		}
	}
	return date
}
