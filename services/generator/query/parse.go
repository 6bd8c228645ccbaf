package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a chain.
const maxDepth = 12

// chain is "Root(args).method(args)…" as the model writes it; a text or a number alone is a chain
// with its text only.
type chain struct {
	text  string // of a literal
	calls []call // the root, then the methods
	// after is the chain behind a comparison: a > b.
	operator string
	after    *chain
}

// call is one call of a chain.
type call struct {
	name string
	args []argument
}

// argument is an argument, its keyword or attribute, and how that compares with it.
type argument struct {
	name     string // empty for positional ones
	operator string // "=" and the comparisons
	value    *chain
	negated  bool // in not_(…)
}

func (c *chain) isLiteral() bool { return len(c.calls) == 0 }

// bareKind returns the kind of a chain that says no more than that, Member(); empty for others.
func (c *chain) bareKind() (kind string) {
	if len(c.calls) == 1 && len(c.calls[0].args) == 0 {
		kind = strings.ToLower(splitWords(c.calls[0].name))
	}
	return kind
}

type tokenKind uint8

const (
	endToken tokenKind = iota
	wordToken
	textToken
	markToken
)

type token struct {
	kind tokenKind
	text string
	// isApart is set if there is a space before it.
	isApart bool
}

// tokenise splits code into words, texts and marks. It forgives quotes that are not closed.
func tokenise(code string) []token {
	var tokens []token
	isApart := false
	for code != "" {
		r, size := utf8.DecodeRuneInString(code)
		last := len(tokens)
		switch {
		case unicode.IsSpace(r):
			code = code[size:]
		case r == '"' || r == '\'' || r == '`' || r == '“':
			text, rest := readQuoted(code[size:], r)
			tokens, code = append(tokens, token{kind: textToken, text: text}), rest
		case isWordRune(r) || r == '-' && len(code) > 1 && code[1] >= '0' && code[1] <= '9':
			end := strings.IndexFunc(code[size:], func(r rune) bool { return !isWordRune(r) })
			if end < 0 {
				end = len(code) - size
			}
			end += size
			// A decimal point belongs to its number.
			for isNumber(code[:end]) && end+1 < len(code) && code[end] == '.' && unicode.IsDigit(rune(code[end+1])) {
				next := strings.IndexFunc(code[end+1:], func(r rune) bool { return !unicode.IsDigit(r) })
				if next < 0 {
					next = len(code) - end - 1
				}
				end += 1 + next
			}
			tokens, code = append(tokens, token{kind: wordToken, text: code[:end]}), code[end:]
		default:
			if len(code) > size && strings.Contains("== >= <= != <>", code[:size]+code[size:size+1]) &&
				strings.ContainsRune("=<>!", r) && strings.ContainsAny(code[size:size+1], "=>") {
				size++
			}
			tokens, code = append(tokens, token{kind: markToken, text: code[:size]}), code[size:]
		}
		if len(tokens) > last {
			tokens[last].isApart = isApart
		}
		isApart = len(tokens) == last
	}
	return tokens
}

// readQuoted returns the text up to the closing quote. An apostrophe between letters is none.
func readQuoted(code string, quote rune) (text, rest string) {
	closing := quote
	if quote == '“' {
		closing = '”'
	}
	var b strings.Builder
	for i := 0; i < len(code); {
		r, size := utf8.DecodeRuneInString(code[i:])
		if r == '\\' && i+1 < len(code) {
			i += size
			r, size = utf8.DecodeRuneInString(code[i:])
			b.WriteRune(r)
			i += size
			continue
		}
		if r == closing {
			next, _ := utf8.DecodeRuneInString(code[i+size:])
			if closing != '\'' || !unicode.IsLetter(next) {
				return b.String(), code[i+size:]
			}
		}
		b.WriteRune(r)
		i += size
	}
	return b.String(), ""
}

func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' }) < 0
}

// parser reads chains leniently: what it cannot read is skipped.
type parser struct {
	tokens []token
	i      int
	depth  int
}

func (p *parser) peek() token {
	if p.i < len(p.tokens) {
		return p.tokens[p.i]
	}
	return token{}
}

func (p *parser) accept(mark string) bool {
	if t := p.peek(); t.kind == markToken && t.text == mark {
		p.i++
		return true
	}
	return false
}

// chain reads a chain and, behind it, a comparison with another. It returns nil if there is none.
func (p *parser) chain() *chain {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return nil
	}
	c := p.operand()
	if t := p.peek(); c != nil && t.kind == markToken && (isComparison(t.text) || t.text == "-" && !c.isLiteral()) {
		p.i++
		c.operator, c.after = t.text, p.chain()
	}
	return c
}

func (p *parser) operand() *chain {
	t := p.peek()
	if t.kind != wordToken && t.kind != textToken {
		return nil
	}
	p.i++
	for n := p.wordsAhead(); t.kind == wordToken && n > 0; n-- { // National Park()
		t.text += "_" + p.peek().text
		p.i++
	}
	c := &chain{}
	if next := p.peek(); t.kind == textToken || isNumber(t.text) || next.kind != markToken ||
		next.text != "(" && next.text != "." {
		c.text = t.text
		if t.kind == wordToken && !isNumber(t.text) {
			c.text = p.name(t.text)
			next = p.peek()
		}
		if next.kind != markToken || next.text != "." {
			return c
		}
		c = &chain{calls: []call{{name: "Thing", args: []argument{{operator: "=", value: &chain{text: c.text}}}}}}
	} else if next.text == "." && !p.isMethodAhead() {
		return &chain{text: p.name(t.text)}
	} else if next.text == "." {
		name := &chain{text: splitWords(t.text)}
		c.calls = []call{{name: "Thing", args: []argument{{operator: "=", value: name}}}}
	} else {
		p.i++
		c.calls = []call{{name: t.text, args: p.arguments(false)}}
	}
	for p.accept(".") {
		method := p.peek()
		if method.kind != wordToken {
			break
		}
		p.i++
		m := call{name: method.text}
		if p.accept("(") {
			m.args = p.arguments(false)
		}
		c.calls = append(c.calls, m)
	}
	return c
}

// maxAbbreviated is the length of a word whose full stop belongs to a name: "St. Louis", "A.F.C. Fylde".
const maxAbbreviated = 3

// name reads a name without quotes that begins with a word. It goes on to the next mark that names do not have.
func (p *parser) name(word string) string {
	text := strings.ReplaceAll(word, "_", " ")
	for {
		t := p.peek()
		if t.kind == markToken {
			isInName := t.text == "&" || !t.isApart &&
				(strings.Contains("-–'’/", t.text) || t.text == "." && len(word) <= maxAbbreviated)
			if !isInName || p.isMethodAhead() || p.i+1 >= len(p.tokens) || p.tokens[p.i+1].kind != wordToken {
				return text
			}
		} else if t.kind != wordToken {
			return text
		}
		if t.isApart {
			text += " "
		}
		text, word = text+strings.ReplaceAll(t.text, "_", " "), t.text
		p.i++
	}
}

// wordsAhead returns how many words stand before an opening parenthesis.
func (p *parser) wordsAhead() int {
	n := 0
	for p.i+n < len(p.tokens) && p.tokens[p.i+n].kind == wordToken {
		n++
	}
	if p.i+n < len(p.tokens) && p.tokens[p.i+n].text == "(" && p.tokens[p.i+n].kind == markToken {
		return n
	}
	return 0
}

// isMethodAhead reports whether a dot begins a method and is no part of a name.
func (p *parser) isMethodAhead() bool {
	return p.i+2 < len(p.tokens) && p.tokens[p.i+1].kind == wordToken && p.tokens[p.i+2].text == "("
}

// arguments reads up to the closing parenthesis.
func (p *parser) arguments(negated bool) []argument {
	p.depth++
	defer func() { p.depth-- }()
	var args []argument
	for p.peek().kind != endToken && !p.accept(")") {
		if p.accept(",") || p.accept("[") || p.accept("]") {
			continue
		}
		before := p.i
		if t := p.peek(); t.kind == wordToken && p.i+1 < len(p.tokens) {
			next := p.tokens[p.i+1]
			switch {
			case next.kind == markToken && (next.text == "=" || isComparison(next.text)):
				p.i += 2
				a := argument{name: t.text, operator: next.text, negated: negated}
				if value := p.list(); value != nil {
					for _, v := range value {
						one := a
						one.value = v
						args = append(args, one)
					}
				}
				continue
			case next.kind == markToken && next.text == "(" && isNegation(t.text) && p.depth < maxDepth:
				p.i += 2
				args = append(args, p.arguments(true)...)
				continue
			}
		}
		if value := p.chain(); value != nil {
			args = append(args, argument{operator: "=", value: value, negated: negated})
		}
		if p.i == before {
			p.i++ // unreadable
		}
	}
	return args
}

// list reads one value or a list of them in brackets.
func (p *parser) list() []*chain {
	if !p.accept("[") {
		if c := p.chain(); c != nil {
			return []*chain{c}
		}
		return nil
	}
	var all []*chain
	for p.peek().kind != endToken && !p.accept("]") {
		if p.accept(",") {
			continue
		}
		before := p.i
		if c := p.chain(); c != nil {
			all = append(all, c)
		}
		if p.i == before {
			p.i++
		}
	}
	return all
}

func isComparison(mark string) bool {
	switch mark {
	case "==", ">=", "<=", "!=", "<>", "<", ">":
		return true
	}
	return false
}

func isNegation(name string) bool {
	switch strings.ToLower(strings.Trim(name, "_")) {
	case "not", "exclude", "without", "except", "excluding":
		return true
	}
	return false
}

// splitWords splits an identifier into words: "located_in" and "LocatedIn" are "located in".
func splitWords(name string) string {
	var b strings.Builder
	before := ' '
	for _, r := range name {
		switch {
		case r == '_':
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(before):
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
