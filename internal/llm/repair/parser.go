package repair

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// mostDepth bounds nesting; nothing that is asked of a model comes near.
const mostDepth = 128

// parser reads forgiving JSON and writes the strict kind.
type parser struct {
	in  string
	at  int
	out bytes.Buffer
}

// value reads one value; false, with nothing written, when there is none.
func (p *parser) value(depth int) bool {
	p.space()
	if p.at >= len(p.in) || depth > mostDepth {
		return false
	}
	switch p.in[p.at] {
	case '{':
		p.object(depth)
		return true
	case '[':
		p.array(depth)
		return true
	case '}', ']', ',', ':':
		return false
	}
	if end := p.quote(); end != "" {
		p.write(p.quoted(end))
		return true
	}
	return p.word()
}

func (p *parser) object(depth int) {
	p.at++
	p.out.WriteByte('{')
	defer p.out.WriteByte('}')
	for first := true; ; {
		p.separators(",;")
		if p.at >= len(p.in) || p.in[p.at] == ']' {
			return // not closed
		}
		if p.in[p.at] == '}' {
			p.at++
			return
		}
		// Written as one piece or not at all: a key whose value was cut off goes.
		mark := p.out.Len()
		if !first {
			p.out.WriteByte(',')
		}
		begin := p.at
		key, ok := p.key()
		p.space()
		if ok {
			p.write(key)
			p.out.WriteByte(':')
			p.separators(":=")
			ok = p.value(depth + 1)
		}
		if ok {
			first = false
			continue
		}
		p.out.Truncate(mark)
		if p.at == begin {
			p.at++ // what cannot be read is left out
		}
	}
}

func (p *parser) array(depth int) {
	p.at++
	p.out.WriteByte('[')
	defer p.out.WriteByte(']')
	for first := true; ; {
		p.separators(",;")
		if p.at >= len(p.in) || p.in[p.at] == '}' {
			return // not closed
		}
		if p.in[p.at] == ']' {
			p.at++
			return
		}
		mark, begin := p.out.Len(), p.at
		if !first {
			p.out.WriteByte(',')
		}
		if p.value(depth + 1) {
			first = false
			continue
		}
		p.out.Truncate(mark)
		if p.at == begin {
			p.at++
		}
	}
}

// key reads a quoted or bare key.
func (p *parser) key() (string, bool) {
	if end := p.quote(); end != "" {
		return p.quoted(end), true
	}
	begin := p.at
	for p.at < len(p.in) && !strings.ContainsRune(":={}[],\n\"", rune(p.in[p.at])) {
		p.at++
	}
	key := strings.TrimSpace(p.in[begin:p.at])
	return key, key != ""
}

// quote returns the mark that would close a string that begins here.
func (p *parser) quote() string {
	for _, q := range [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"‘", "’"}} {
		if strings.HasPrefix(p.in[p.at:], q[0]) {
			return q[1]
		}
	}
	return ""
}

// quoted reads a string up to its closing mark, or to the end where there is
// none.
func (p *parser) quoted(end string) string {
	_, n := utf8.DecodeRuneInString(p.in[p.at:])
	p.at += n
	var s strings.Builder
	for p.at < len(p.in) {
		if strings.HasPrefix(p.in[p.at:], end) && p.closes(p.at+len(end)) {
			p.at += len(end)
			return s.String()
		}
		if p.in[p.at] == '\\' && p.at+1 < len(p.in) {
			s.WriteString(p.escape())
			continue
		}
		s.WriteByte(p.in[p.at])
		p.at++
	}
	return strings.TrimRight(s.String(), "\\")
}

// closes tells a closing mark from a quote or apostrophe inside a string by
// what comes after it.
func (p *parser) closes(after int) bool {
	rest := strings.TrimLeft(p.in[after:], " \t\r")
	if rest == "" || strings.ContainsRune(",:}]=;\n", rune(rest[0])) {
		return true
	}
	// A missing comma: the next string begins at once and is a key.
	if rest[0] != '"' {
		return false
	}
	key := strings.IndexByte(rest[1:], '"')
	return key > 0 && strings.HasPrefix(strings.TrimLeft(rest[key+2:], " "), ":")
}

// escape reads one backslash sequence; an unknown one stands for its letter.
func (p *parser) escape() string {
	c := p.in[p.at+1]
	size := 2
	if c == 'u' {
		size = 6
		// The first half of a surrogate pair means nothing without the second.
		if rest := strings.ToLower(p.in[p.at:min(p.at+8, len(p.in))]); strings.HasPrefix(rest, `\ud`) && strings.HasSuffix(rest, `\u`) {
			size = 12
		}
	}
	if s, ok := p.unescape(size); ok {
		return s
	}
	p.at += 2
	return string(rune(c))
}

func (p *parser) unescape(size int) (string, bool) {
	if p.at+size > len(p.in) {
		return "", false
	}
	var s string
	if json.Unmarshal([]byte(`"`+p.in[p.at:p.at+size]+`"`), &s) != nil {
		return "", false
	}
	p.at += size
	return s, true
}

// comment tells a comment behind a bare word from a mark inside it, as in a URL.
func comment(s string) bool {
	return strings.HasPrefix(s, " #") || strings.HasPrefix(s, " //") || strings.HasPrefix(s, " /*")
}

// words that models write for JSON's own.
var words = map[string]string{
	"true": "true", "True": "true", "TRUE": "true",
	"false": "false", "False": "false", "FALSE": "false",
	"null": "null", "None": "null", "NULL": "null", "nil": "null", "undefined": "null", "NaN": "null",
}

// word reads a number, one of the words, or text that lacks its quotes.
func (p *parser) word() bool {
	begin := p.at
	for p.at < len(p.in) && !strings.ContainsRune(",{}[]\n", rune(p.in[p.at])) && !comment(p.in[p.at:]) {
		p.at++
	}
	text := strings.TrimSpace(p.in[begin:p.at])
	if w, ok := words[text]; ok {
		p.out.WriteString(w)
		return true
	}
	if text == "" || (p.at == len(p.in) && cutShort(text)) {
		return false
	}
	if n := strings.TrimPrefix(text, "+"); json.Valid([]byte(n)) && n[0] != '"' {
		p.out.WriteString(n)
		return true
	}
	if n := strings.ReplaceAll(text, "_", ""); json.Valid([]byte(n)) && n[0] != '"' {
		p.out.WriteString(n)
		return true
	}
	p.write(text)
	return true
}

// cutShort tells the beginning of a word that the end of the text cut off.
func cutShort(text string) bool {
	for w := range words {
		if strings.HasPrefix(w, text) {
			return true
		}
	}
	return false
}

// write writes a string as JSON.
func (p *parser) write(s string) {
	enc := json.NewEncoder(&p.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // cannot happen for a string
		p.out.WriteString(strconv.Quote(""))
		return
	}
	p.out.Truncate(p.out.Len() - 1) // the encoder's newline
}

// separators skips white space, comments and any of the marks.
func (p *parser) separators(marks string) {
	for {
		p.space()
		if p.at >= len(p.in) || !strings.ContainsRune(marks, rune(p.in[p.at])) {
			return
		}
		p.at++
	}
}

// space skips white space and comments.
func (p *parser) space() {
	for p.at < len(p.in) {
		rest := p.in[p.at:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			p.at++
		case strings.HasPrefix(rest, "//") || rest[0] == '#':
			p.skip(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			p.skip(rest, "*/")
		default:
			return
		}
	}
}

func (p *parser) skip(rest, end string) {
	if i := strings.Index(rest, end); i >= 0 {
		p.at += i + len(end)
		return
	}
	p.at = len(p.in)
}
