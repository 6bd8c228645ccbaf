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
	kind     kind
	newline  bool // first on its line
	from, to int32
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

func (s *source) textOf(t token) string { return s.text[t.from:t.to] }

// position gives line and column, from 1, of a byte offset.
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
	at      int
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
	for l.skipSpace(); l.at < len(l.text); l.skipSpace() {
		from := l.at
		k := l.token()
		l.tokens = append(l.tokens, token{kind: k, newline: l.newline, from: int32(from), to: int32(l.at)})
		l.newline = false
	}
	return append(l.tokens, token{kind: tEOF, newline: true, from: int32(len(l.text)), to: int32(len(l.text))})
}

func (l *lexer) peek(ahead int) byte {
	if l.at+ahead < len(l.text) {
		return l.text[l.at+ahead]
	}
	return 0
}

func (l *lexer) skipSpace() {
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == '\n':
			l.newline = true
			l.at++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.at++
		case c == '/' && l.peek(1) == '/', l.note != nil && l.newline && c == '-' && l.peek(1) == '-' && l.peek(2) == ' ':
			l.at += lineEnd(l.text[l.at:])
		case c == '/' && l.peek(1) == '*':
			end := strings.Index(l.text[l.at+2:], "*/")
			if end < 0 {
				if l.note == nil {
					return // an open comment is a bad token
				}
				l.note(l.at, "the comment does not end")
				l.at = len(l.text)
				return
			}
			l.newline = l.newline || strings.Contains(l.text[l.at:l.at+2+end], "\n")
			l.at += end + 4
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(l.text[l.at:])
			if !unicode.IsSpace(r) && r != '\ufeff' && r != '\u200b' {
				return
			}
			l.at += size
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

// token reads one token at l.at and gives its kind.
func (l *lexer) token() kind {
	c := l.text[l.at]
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
		if strings.HasPrefix(l.text[l.at:], op.text) {
			l.at += len(op.text)
			return op.kind
		}
	}
	if c == '/' && l.peek(1) == '*' {
		l.at = len(l.text)
		return tBad
	}
	l.at++
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
	r, size := utf8.DecodeRuneInString(l.text[l.at:])
	if unicode.IsLetter(r) {
		l.identifier()
		return tIdent
	}
	if l.note != nil {
		switch r {
		case '‘', '’', '“', '”', '„', '«', '‹', '´':
			l.note(l.at, "typographic quote")
			return l.quote(closingQuote(r), size)
		case '–', '—', '−', '‑':
			l.at += size
			return '-'
		case '→':
			l.at += size
			return '>'
		case '←':
			l.at += size
			return '<'
		}
	}
	l.at += size
	return tBad
}

func (l *lexer) identifier() {
	for l.at < len(l.text) {
		c := l.text[l.at]
		if isIdentStart(c) || isDigit(c) {
			l.at++
			continue
		}
		if c < utf8.RuneSelf {
			return
		}
		r, size := utf8.DecodeRuneInString(l.text[l.at:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) {
			return
		}
		l.at += size
	}
}

// number reads an integer (decimal, 0x, 0o) or a float. Letters stuck to it
// make it a bad token, or a name where the lexer forgives.
func (l *lexer) number() kind {
	k := tInt
	digits := func(ok func(byte) bool) {
		for ok(l.peek(0)) {
			l.at++
		}
	}
	if l.peek(0) == '0' && (l.peek(1) == 'x' || l.peek(1) == 'o') {
		l.at += 2
		digits(isHexDigit)
	} else {
		digits(isDigit)
		if l.peek(0) == '.' && isDigit(l.peek(1)) {
			k = tFloat
			l.at++
			digits(isDigit)
		}
		if e := l.peek(0); e == 'e' || e == 'E' {
			sign := 1
			if s := l.peek(1); s == '+' || s == '-' {
				sign = 2
			}
			if isDigit(l.peek(sign)) {
				k = tFloat
				l.at += sign
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

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isHexDigit(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
}
func isIdentStart(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }
