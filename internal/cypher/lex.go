package cypher

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token. A token of one character of punctuation has
// that character as its kind.
type kind uint8

const (
	tEOF kind = iota
	tIdent
	tQuoted // `name`
	tString
	tInt
	tFloat
	tBad // what no token can start with, or a literal that is broken

	tLessEqual kind = iota + 128
	tGreaterEqual
	tNotEqual
	tRegex      // =~
	tPlusAssign // +=
	tDots       // ..
)

// token is a piece of source text. It holds no text of its own: 12 bytes each
// keep a megabyte of code small.
type token struct {
	kind       kind
	newline    bool // first on its line
	start, end int32
}

// source is query text with its tokens; positions are byte offsets.
type source struct {
	text   string
	tokens []token // ends with tEOF
	lines  []int32 // where each line starts
	// loose: errors keep their offset only. A text of a model can have many,
	// and few of their lines and columns are ever asked for.
	loose bool
}

func newSource(text string, tokens []token) *source {
	s := &source{text: text, tokens: tokens, lines: []int32{0}}
	for at := lineEnd(text); at < len(text); at += 1 + lineEnd(text[at+1:]) {
		s.lines = append(s.lines, int32(at+1))
	}
	return s
}

func (s *source) textOf(t token) string { return s.text[t.start:t.end] }

// position returns line and column, from 1, of a byte offset.
func (s *source) position(offset int) (line, column int) {
	line, found := slices.BinarySearch(s.lines, int32(offset))
	if !found {
		line--
	}
	start := int(s.lines[line])
	return line + 1, utf8.RuneCountInString(s.text[start:max(start, min(offset, len(s.text)))]) + 1
}

// lexer cuts text into tokens. With note set it forgives: typographic quotes
// and dashes, apostrophes inside strings, strings that the line ends.
type lexer struct {
	text    string
	offset  int
	newline bool
	tokens  []token
	note    func(offset int, message string)
}

// lex cuts query text by openCypher's rules.
func lex(text string) *source {
	l := lexer{text: text, tokens: make([]token, 0, len(text)/4+1)}
	return newSource(text, l.run())
}

// run reads tokens from l.at to the end of the text.
func (l *lexer) run() []token {
	l.newline = true
	for l.skipSpace(); l.offset < len(l.text); l.skipSpace() {
		from := l.offset
		k := l.token()
		l.tokens = append(l.tokens, token{kind: k, newline: l.newline, start: int32(from), end: int32(l.offset)})
		l.newline = false
	}
	return append(l.tokens, token{kind: tEOF, newline: true, start: int32(len(l.text)), end: int32(len(l.text))})
}

func (l *lexer) peek(ahead int) byte {
	if l.offset+ahead < len(l.text) {
		return l.text[l.offset+ahead]
	}
	return 0
}

func (l *lexer) skipSpace() {
	for l.offset < len(l.text) {
		switch c := l.text[l.offset]; {
		case c == '\n':
			l.newline = true
			l.offset++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.offset++
		case c == '/' && l.peek(1) == '/', l.note != nil && l.newline && c == '-' && l.peek(1) == '-' &&
			l.peek(2) == ' ':
			l.offset += lineEnd(l.text[l.offset:])
		case c == '/' && l.peek(1) == '*':
			end := strings.Index(l.text[l.offset+2:], "*/")
			if end < 0 {
				if l.note == nil {
					return // an open comment is a bad token
				}
				l.note(l.offset, "the comment does not end")
				l.offset = len(l.text)
				return
			}
			l.newline = l.newline || strings.Contains(l.text[l.offset:l.offset+2+end], "\n")
			l.offset += end + 4
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(l.text[l.offset:])
			if !unicode.IsSpace(r) && r != '\ufeff' && r != '\u200b' {
				return
			}
			l.offset += size
		default:
			return
		}
	}
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// token reads one token at l.at and returns its kind.
func (l *lexer) token() kind {
	c := l.text[l.offset]
	switch {
	case isIdentStart(c):
		l.identifier()
		return tIdent
	case isDigit(c), c == '.' && isDigit(l.peek(1)):
		return l.number()
	case c == '\'' || c == '"':
		return l.quote(rune(c), 1)
	case c == '`':
		return l.backticks()
	case c >= utf8.RuneSelf:
		return l.unicode()
	}
	for _, op := range operators {
		if strings.HasPrefix(l.text[l.offset:], op.text) {
			l.offset += len(op.text)
			return op.kind
		}
	}
	if c == '/' && l.peek(1) == '*' {
		l.offset = len(l.text)
		return tBad
	}
	l.offset++
	if strings.IndexByte("()[]{}<>=+-*/%^.,:;|$&!?", c) >= 0 {
		return kind(c)
	}
	return tBad
}

var operators = []struct {
	text string
	kind kind
}{{"<=", tLessEqual}, {">=", tGreaterEqual}, {"<>", tNotEqual}, {"=~", tRegex}, {"+=", tPlusAssign}, {"..", tDots}}

// unicode reads what starts outside ASCII: a name, or with forgiveness a
// typographic quote, dash or arrow.
func (l *lexer) unicode() kind {
	r, size := utf8.DecodeRuneInString(l.text[l.offset:])
	if unicode.IsLetter(r) {
		l.identifier()
		return tIdent
	}
	if l.note != nil {
		switch r {
		case '‘', '’', '“', '”', '„', '«', '‹', '´':
			l.note(l.offset, "typographic quote")
			return l.quote(closingQuote(r), size)
		case '–', '—', '−', '‑':
			l.offset += size
			return '-'
		case '→':
			l.offset += size
			return '>'
		case '←':
			l.offset += size
			return '<'
		}
	}
	l.offset += size
	return tBad
}

func (l *lexer) identifier() {
	for l.offset < len(l.text) {
		c := l.text[l.offset]
		if isIdentStart(c) || isDigit(c) {
			l.offset++
			continue
		}
		if c < utf8.RuneSelf {
			return
		}
		r, size := utf8.DecodeRuneInString(l.text[l.offset:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) {
			return
		}
		l.offset += size
	}
}

// number reads an integer (decimal, 0x, 0o) or a float. Letters stuck to it
// make it a bad token, or a name where the lexer forgives.
func (l *lexer) number() kind {
	k := tInt
	digits := func(ok func(byte) bool) {
		for ok(l.peek(0)) {
			l.offset++
		}
	}
	if l.peek(0) == '0' && (l.peek(1) == 'x' || l.peek(1) == 'o') {
		l.offset += 2
		digits(isHexDigit)
	} else {
		digits(isDigit)
		if l.peek(0) == '.' && isDigit(l.peek(1)) {
			k = tFloat
			l.offset++
			digits(isDigit)
		}
		if e := l.peek(0); e == 'e' || e == 'E' {
			sign := 1
			if s := l.peek(1); s == '+' || s == '-' {
				sign = 2
			}
			if isDigit(l.peek(sign)) {
				k = tFloat
				l.offset += sign
				digits(isDigit)
			}
		}
	}
	if isIdentStart(l.peek(0)) {
		l.identifier()
		if l.note != nil {
			return tIdent
		}
		return tBad
	}
	return k
}

func isDigit(c byte) bool      { return '0' <= c && c <= '9' }
func isHexDigit(c byte) bool   { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
func isIdentStart(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// backticks reads a `quoted name`; two backticks stand for one.
func (l *lexer) backticks() kind {
	for at := l.offset + 1; at < len(l.text); at++ {
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
		l.offset = at + 1
		return tQuoted
	}
	if l.note != nil {
		l.offset++ // a stray backtick is skipped as a bad token
		return tBad
	}
	l.offset = len(l.text)
	return tBad
}

// quote reads a string whose opening quote takes size bytes.
func (l *lexer) quote(closing rune, size int) kind {
	if l.note != nil {
		return l.looseQuote(closing, size)
	}
	for l.offset += size; l.offset < len(l.text); l.offset++ {
		switch l.text[l.offset] {
		case '\\':
			l.offset++
		case byte(closing):
			l.offset++
			return tString
		}
	}
	l.offset = len(l.text)
	return tBad
}

// looseQuote reads a string that may hold its own quote: 'O'Brien'. A quote
// ends the string only where code can continue after it. If the line ends
// first, the string ends there, before the brackets that close the line.
func (l *lexer) looseQuote(closing rune, size int) kind {
	from := l.offset
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
				l.offset = at + n
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
	l.offset = max(len(strings.TrimRight(l.text[:end], " \t\r)}];,")), from+1)
	return tString
}

// closingQuote returns the quote that ends a string begun by r.
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

// endsString reports whether code can continue with rest after a string.
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
