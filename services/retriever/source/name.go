package source

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is the longest name, key or literal in bytes, that of the contract.
const MaxName = 65536

// Name checks a name and puts it on one line: runs of white space and control
// characters become one space. what names it in errors.
func Name(what, name string) (string, error) {
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
		return "", fmt.Errorf("the %s has %d bytes, at most %d are taken", what, len(name), MaxName)
	}
	return name, nil
}

// isPlain says that a name is of printable ASCII with no two spaces together
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

// times are ISO 8601 of any precision from the year down.
var times = regexp.MustCompile(`^[+-]?\d{4,9}(-\d\d(-\d\d(T[0-9:.]+(Z|[+-]\d\d:?\d\d)?)?)?)?$`)

// Date checks a date: ISO 8601 of any precision from the year down, before
// Christ with a minus; or nothing. what names it in errors.
func Date(what, date string) (string, error) {
	date = strings.TrimSpace(date)
	if date != "" && !isDay(date) && (len(date) > 64 || !times.MatchString(date)) {
		return "", fmt.Errorf("the %s %.40q is no ISO 8601 date", what, date)
	}
	return strings.TrimPrefix(date, "+"), nil
}

// isDay says that a text is a date such as most are: 1952, 1952-03 or
// 1952-03-11.
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

// IsNumber says that a text is a number: digits with "." and "e" as in XSD.
func IsNumber(text string) bool {
	rest := unsigned(text)
	whole := digits(rest)
	rest = rest[whole:]
	part := 0
	if strings.HasPrefix(rest, ".") {
		part = digits(rest[1:])
		rest = rest[1+part:]
	}
	if whole+part == 0 {
		return false
	}
	if rest != "" && rest[0]|0x20 == 'e' {
		rest = unsigned(rest[1:])
		n := digits(rest)
		return n > 0 && n == len(rest)
	}
	return rest == ""
}

func unsigned(text string) string {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		return text[1:]
	}
	return text
}

// digits counts those that a text begins with.
func digits(text string) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// LocalName is what follows the last # or / of an IRI, or all of it where
// nothing does.
func LocalName(iri string) string {
	trimmed := strings.TrimRight(iri, "/#")
	if i := strings.LastIndexAny(trimmed, "/#"); i >= 0 && i+1 < len(trimmed) {
		return trimmed[i+1:]
	}
	return iri
}

// Readable is an IRI's local name as a person reads it; ok is false where there
// is none.
func Readable(iri string) (name string, ok bool) {
	name = LocalName(iri)
	if strings.IndexByte(name, '%') >= 0 {
		if decoded, err := url.PathUnescape(name); err == nil {
			name = decoded
		}
	}
	clean, err := Name("name", strings.ReplaceAll(name, "_", " "))
	return clean, err == nil
}
