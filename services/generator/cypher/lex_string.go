package cypher

import (
	"strings"
	"unicode/utf8"
)

// backticks reads a `quoted name`; two backticks stand for one.
func (l *lexer) backticks() kind {
	for at := l.at + 1; at < len(l.text); at++ {
		if l.note != nil && strings.IndexByte("(\n", l.text[at]) >= 0 {
			break // code in backticks, not a name
		}
		if l.text[at] != '`' {
			continue
		}
		if at+1 < len(l.text) && l.text[at+1] == '`' {
			at++
			continue
		}
		l.at = at + 1
		return tQuoted
	}
	if l.note != nil {
		l.at++ // a stray backtick is passed over as a bad token
		return tBad
	}
	l.at = len(l.text)
	return tBad
}

// quote reads a string whose opening quote takes size bytes.
func (l *lexer) quote(closing rune, size int) kind {
	if l.note != nil {
		return l.looseQuote(closing, size)
	}
	for l.at += size; l.at < len(l.text); l.at++ {
		switch l.text[l.at] {
		case '\\':
			l.at++
		case byte(closing):
			l.at++
			return tString
		}
	}
	l.at = len(l.text)
	return tBad
}

// looseQuote reads a string that may hold its own quote: 'O'Brien'. A quote
// ends the string only where code can go on after it. Where the line ends
// first, the string ends there, before the brackets that close the line.
func (l *lexer) looseQuote(closing rune, size int) kind {
	from := l.at
	at := from + size
	for at < len(l.text) {
		r, n := utf8.DecodeRuneInString(l.text[at:])
		switch {
		case r == '\\' && at+1 < len(l.text) && l.text[at+1] != '\n':
			at++
			_, n = utf8.DecodeRuneInString(l.text[at:])
		case r == '\n':
			return l.openQuote(from, at)
		case closesQuote(r, closing):
			rest := l.text[at+n:]
			next, m := utf8.DecodeRuneInString(rest)
			doubled := closesQuote(next, closing)
			if !doubled && endsString(rest) {
				l.at = at + n
				return tString
			}
			l.note(at, "quote inside a string")
			if doubled && !endsString(rest[m:]) {
				n += m // O''Brien
			}
		}
		at += n
	}
	return l.openQuote(from, len(l.text))
}

// openQuote ends a string that no quote ended.
func (l *lexer) openQuote(from, end int) kind {
	l.note(from, "the string does not end")
	l.at = max(len(strings.TrimRight(l.text[:end], " \t\r)}];,")), from+1)
	return tString
}

// closingQuote gives the quote that ends a string begun by r.
func closingQuote(r rune) rune {
	switch r {
	case '“', '”', '„':
		return '”'
	case '«':
		return '»'
	case '‹':
		return '›'
	}
	return '’'
}

func closesQuote(r, closing rune) bool {
	if r == closing {
		return true
	}
	switch closing {
	case '”':
		return r == '"' || r == '“'
	case '’':
		return r == '\'' || r == '‘' || r == '´'
	}
	return false
}

// endsString reports whether code can go on with rest after a string.
func endsString(rest string) bool {
	trimmed := strings.TrimLeft(rest, " \t\r")
	if trimmed == "" || strings.IndexByte("\n,}):];|=<>+*%-", trimmed[0]) >= 0 {
		return true
	}
	if strings.HasPrefix(trimmed, "//") || strings.HasPrefix(trimmed, "/*") {
		return true
	}
	if len(trimmed) == len(rest) {
		return false
	}
	word := trimmed[:identLength(trimmed)]
	return word != "" && afterString[strings.ToUpper(word)] && word == strings.ToUpper(word)
}

func identLength(s string) int {
	for i := 0; i < len(s); i++ {
		if !isIdentStart(s[i]) && !isDigit(s[i]) {
			return i
		}
	}
	return len(s)
}

// afterString are the words that may follow a string in Cypher.
var afterString = wordSet("AND OR XOR AS IN ON RETURN SET CREATE MERGE MATCH OPTIONAL WHERE WITH IS ORDER " +
	"LIMIT SKIP DESC ASC STARTS ENDS CONTAINS THEN ELSE END WHEN UNWIND UNION DELETE DETACH REMOVE")

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
