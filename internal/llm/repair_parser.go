package llm

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxJSONDepth bounds nesting; no schema in use comes near.
const maxJSONDepth = 128

// jsonParser reads lenient JSON and writes strict JSON.
type jsonParser struct {
	input  string
	pos    int
	output bytes.Buffer
}

// value reads one value. If there is none, it returns false and writes nothing.
func (p *jsonParser) value(depth int) bool {
	p.space()
	if p.pos >= len(p.input) || depth > maxJSONDepth {
		return false
	}
	switch p.input[p.pos] {
	case '{':
		p.object(depth)
		return true
	case '[':
		p.array(depth)
		return true
	case '}', ']', ',', ':':
		return false
	}
	if end := p.closingQuote(); end != "" {
		p.write(p.readQuoted(end))
		return true
	}
	return p.word()
}

func (p *jsonParser) object(depth int) {
	p.pos++
	p.output.WriteByte('{')
	defer p.output.WriteByte('}')
	for first := true; ; {
		p.separators(",;")
		if p.pos >= len(p.input) || p.input[p.pos] == ']' {
			return // not closed
		}
		if p.input[p.pos] == '}' {
			p.pos++
			return
		}
		// A key whose value is cut off is dropped.
		mark := p.output.Len()
		if !first {
			p.output.WriteByte(',')
		}
		begin := p.pos
		key, ok := p.key()
		p.space()
		if ok {
			p.write(key)
			p.output.WriteByte(':')
			p.separators(":=")
			ok = p.value(depth + 1)
		}
		if ok {
			first = false
			continue
		}
		p.output.Truncate(mark)
		if p.pos == begin {
			p.pos++ // skip an unreadable character
		}
	}
}

func (p *jsonParser) array(depth int) {
	p.pos++
	p.output.WriteByte('[')
	defer p.output.WriteByte(']')
	for first := true; ; {
		p.separators(",;")
		if p.pos >= len(p.input) || p.input[p.pos] == '}' {
			return // not closed
		}
		if p.input[p.pos] == ']' {
			p.pos++
			return
		}
		mark, begin := p.output.Len(), p.pos
		if !first {
			p.output.WriteByte(',')
		}
		if p.value(depth + 1) {
			first = false
			continue
		}
		p.output.Truncate(mark)
		if p.pos == begin {
			p.pos++
		}
	}
}

// key reads a quoted or bare key.
func (p *jsonParser) key() (string, bool) {
	if end := p.closingQuote(); end != "" {
		return p.readQuoted(end), true
	}
	begin := p.pos
	for p.pos < len(p.input) && !strings.ContainsRune(":={}[],\n\"", rune(p.input[p.pos])) {
		p.pos++
	}
	key := strings.TrimSpace(p.input[begin:p.pos])
	return key, key != ""
}

// closingQuote returns the quote that closes a string beginning here, or "".
func (p *jsonParser) closingQuote() string {
	for _, q := range [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"‘", "’"}} {
		if strings.HasPrefix(p.input[p.pos:], q[0]) {
			return q[1]
		}
	}
	return ""
}

// readQuoted reads a string up to its closing quote or else the end of the text.
func (p *jsonParser) readQuoted(end string) string {
	_, n := utf8.DecodeRuneInString(p.input[p.pos:])
	p.pos += n
	var s strings.Builder
	for p.pos < len(p.input) {
		if strings.HasPrefix(p.input[p.pos:], end) && p.isClosing(p.pos+len(end)) {
			p.pos += len(end)
			return s.String()
		}
		if p.input[p.pos] == '\\' && p.pos+1 < len(p.input) {
			s.WriteString(p.escape())
			continue
		}
		s.WriteByte(p.input[p.pos])
		p.pos++
	}
	return strings.TrimRight(s.String(), "\\")
}

// isClosing reports whether the text after a quote shows that it closes the string, rather than being
// a quote or apostrophe inside it.
func (p *jsonParser) isClosing(after int) bool {
	rest := strings.TrimLeft(p.input[after:], " \t\r")
	if rest == "" || strings.ContainsRune(",:}]=;\n", rune(rest[0])) {
		return true
	}
	// A missing comma: the next string follows directly and is a key.
	if rest[0] != '"' {
		return false
	}
	key := strings.IndexByte(rest[1:], '"')
	return key > 0 && strings.HasPrefix(strings.TrimLeft(rest[key+2:], " "), ":")
}

// escape reads one backslash sequence; an unknown one is replaced by its letter.
func (p *jsonParser) escape() string {
	c := p.input[p.pos+1]
	size := 2
	if c == 'u' {
		size = 6
		// Both halves of a surrogate pair are decoded together.
		if rest := strings.ToLower(p.input[p.pos:min(p.pos+8, len(p.input))]); strings.HasPrefix(rest, `\ud`) &&
			strings.HasSuffix(rest, `\u`) {
			size = 12
		}
	}
	if s, ok := p.unescape(size); ok {
		return s
	}
	p.pos += 2
	return string(rune(c))
}

func (p *jsonParser) unescape(size int) (string, bool) {
	if p.pos+size > len(p.input) {
		return "", false
	}
	var s string
	if json.Unmarshal([]byte(`"`+p.input[p.pos:p.pos+size]+`"`), &s) != nil {
		return "", false
	}
	p.pos += size
	return s, true
}

// startsComment reports whether a comment begins here, after a bare word. The space tells it from
// "//" or "#" inside the word, as in a URL.
func startsComment(s string) bool {
	return strings.HasPrefix(s, " #") || strings.HasPrefix(s, " //") || strings.HasPrefix(s, " /*")
}

// jsonLiterals maps literals as models write them to those of JSON.
var jsonLiterals = map[string]string{
	"true": "true", "True": "true", "TRUE": "true",
	"false": "false", "False": "false", "FALSE": "false",
	"null": "null", "None": "null", "NULL": "null", "nil": "null", "undefined": "null", "NaN": "null",
}

// word reads a number, a literal or an unquoted string.
func (p *jsonParser) word() bool {
	begin := p.pos
	for p.pos < len(p.input) && !strings.ContainsRune(",{}[]\n", rune(p.input[p.pos])) &&
		!startsComment(p.input[p.pos:]) {
		p.pos++
	}
	text := strings.TrimSpace(p.input[begin:p.pos])
	if w, ok := jsonLiterals[text]; ok {
		p.output.WriteString(w)
		return true
	}
	if text == "" || (p.pos == len(p.input) && isTruncatedLiteral(text)) {
		return false
	}
	if n := strings.TrimPrefix(text, "+"); json.Valid([]byte(n)) && n[0] != '"' {
		p.output.WriteString(n)
		return true
	}
	if n := strings.ReplaceAll(text, "_", ""); json.Valid([]byte(n)) && n[0] != '"' {
		p.output.WriteString(n)
		return true
	}
	p.write(text)
	return true
}

// isTruncatedLiteral reports whether text is a prefix of a literal.
func isTruncatedLiteral(text string) bool {
	for w := range jsonLiterals {
		if strings.HasPrefix(w, text) {
			return true
		}
	}
	return false
}

func (p *jsonParser) write(s string) {
	enc := json.NewEncoder(&p.output)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // cannot happen for a string
		p.output.WriteString(strconv.Quote(""))
		return
	}
	p.output.Truncate(p.output.Len() - 1) // the encoder's newline
}

// separators skips white space, comments and any of the given characters.
func (p *jsonParser) separators(marks string) {
	for {
		p.space()
		if p.pos >= len(p.input) || !strings.ContainsRune(marks, rune(p.input[p.pos])) {
			return
		}
		p.pos++
	}
}

// space skips white space and comments.
func (p *jsonParser) space() {
	for p.pos < len(p.input) {
		rest := p.input[p.pos:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			p.pos++
		case strings.HasPrefix(rest, "//") || rest[0] == '#':
			p.skip(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			p.skip(rest, "*/")
		default:
			return
		}
	}
}

func (p *jsonParser) skip(rest, end string) {
	if i := strings.Index(rest, end); i >= 0 {
		p.pos += i + len(end)
		return
	}
	p.pos = len(p.input)
}
