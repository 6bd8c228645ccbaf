package cypher

import (
	"errors"
	"strings"
	"unicode"
)

// unit is the shortest sequence of clauses that has to run together: a clause that
// writes alone, or one that reads with what depends on it.
type unit struct{ clauses []clause }

// reader finds the code in tokens and reads it forgivingly. If it cannot go
// on it takes up again at the next clause, so that only what is broken is lost.
type reader struct {
	*source
	limits Limits
	i      int
	depth  int
	notes  *notes
}

func (r *reader) peek() token { return r.tokenAt(0) }

func (r *reader) tokenAt(ahead int) token { return r.tokens[min(r.i+ahead, len(r.tokens)-1)] }

func (r *reader) is(k kind) bool { return r.peek().kind == k }

func (r *reader) accept(k kind) bool {
	if r.is(k) && k != tEOF {
		r.i++
		return true
	}
	return false
}

func (r *reader) forgive(message string) { r.notes.add(r.peek().start, message) }

// missing reports what should stand behind the last token.
func (r *reader) missing(message string) {
	r.notes.add(r.tokens[max(r.i-1, 0)].end, message)
}

func (r *reader) spanFrom(from int) span {
	return span{int32(from), int32(max(r.i, from+1))}
}

// word returns the keyword ahead in capitals, or "".
func (r *reader) word(ahead int) string {
	t := r.tokenAt(ahead)
	if t.kind != tIdent || t.end-t.start > 10 {
		return ""
	}
	return strings.ToUpper(r.textOf(t))
}

// writeWords need a pattern behind them.
var writeWords = wordSet("CREATE MERGE MATCH")

// startsClause reports whether a clause starts at a token. Words of prose ("Create a node", "with")
// do not: a pattern has to follow, or the word has to stand in capitals or first on its line.
func (r *reader) startsClause(ahead int) bool {
	word := r.word(ahead)
	if !clauseWords[word] {
		return false
	}
	next := r.tokenAt(ahead + 1)
	switch {
	case writeWords[word]:
		return next.kind == '(' || next.kind == tIdent && r.goesOn(ahead+2)
	case word == "OPTIONAL":
		return r.word(ahead+1) == "MATCH"
	case word == "DETACH":
		return r.word(ahead+1) == "DELETE"
	}
	t := r.tokenAt(ahead)
	text := r.textOf(t)
	return text == word || t.newline && text == strings.ToLower(word)
}

// goesOn reports whether a pattern continues behind a word without parentheses:
// MATCH c WHERE, MATCH d:Director-, CREATE p = (.
func (r *reader) goesOn(ahead int) bool {
	switch r.tokenAt(ahead).kind {
	case ':', '-', '<', '=':
		return true
	}
	word := r.word(ahead)
	return (word == "WHERE" || clauseWords[word]) && word == r.textOf(r.tokenAt(ahead))
}

// units reads all code.
func (r *reader) units() []unit {
	var units []unit
	for !r.is(tEOF) {
		if !r.startsClause(0) {
			if word := r.word(0); writeWords[word] && word == r.textOf(r.peek()) {
				r.forgive(word + " without a pattern is skipped")
			}
			r.i++
			continue
		}
		from := r.i
		if u := r.unit(); len(u.clauses) > 0 {
			units = append(units, u)
		}
		r.i = max(r.i, from+1)
	}
	return units
}

// unit reads clauses that belong together.
func (r *reader) unit() unit {
	var u unit
	reads, writes := false, false
	for !r.is(tEOF) {
		word := r.word(0)
		if !r.startsClause(0) {
			r.junk()
			if r.accept(';') || !r.startsClause(0) {
				return u
			}
			continue
		}
		switch word {
		case "CREATE", "MERGE":
			if len(u.clauses) > 0 && !reads {
				return u
			}
			writes = true
		case "MATCH", "OPTIONAL", "UNWIND":
			if writes {
				return u
			}
			reads = true
		case "WITH":
			reads, writes = true, false
		}
		from := r.i
		if c := r.clause(word); c != nil {
			u.clauses = append(u.clauses, c)
		}
		r.notes.takeLexed(r.tokens[from].start, r.peek().start)
		if r.accept(';') || word == "RETURN" {
			return u
		}
	}
	return u
}

// junk skips unreadable text, to the end of the line or the next clause.
func (r *reader) junk() {
	for r.is(tBad) && r.textOf(r.peek()) == "`" {
		r.i++ // around code in prose
	}
	if r.is(';') || r.peek().newline || r.startsClause(0) {
		return // prose, it may be
	}
	r.forgive("unreadable code is skipped")
	for first := true; !r.is(tEOF) && !r.is(';') && !r.startsClause(0) && (first || !r.peek().newline); first = false {
		r.i++
	}
}

// clause reads one clause: patterns forgivingly, all else by the strict
// parser. It returns nil for a clause that is lost.
func (r *reader) clause(word string) clause {
	from := r.i
	switch word {
	case "CREATE":
		r.i++
		if paths := r.paths(true); len(paths) > 0 {
			return &createClause{span: r.spanFrom(from), paths: paths}
		}
		return nil
	case "MERGE":
		r.i++
		return r.merge(from)
	case "MATCH", "OPTIONAL":
		r.i++
		if word == "OPTIONAL" {
			r.i++
		}
		c := &matchClause{optional: word == "OPTIONAL", paths: r.paths(false)}
		if r.word(0) == "WHERE" {
			c.condition = r.whereCondition()
		}
		c.span = r.spanFrom(from)
		if len(c.paths) == 0 {
			return nil
		}
		return c
	}
	var c clause
	if !r.strictly(func(p *parser) { c = p.clause() }) {
		return nil
	}
	return c
}

// merge reads MERGE, of one path or, as models write it, of several.
func (r *reader) merge(from int) clause {
	paths := r.paths(true)
	if len(paths) == 0 {
		return nil
	}
	c := &mergeClause{path: paths[0], furtherPaths: paths[1:]}
	for r.word(0) == "ON" {
		match := r.word(1) == "MATCH"
		ok := r.strictly(func(p *parser) {
			p.i += 2
			p.keywords("SET")
			items := p.setItems()
			if match {
				c.onMatch = append(c.onMatch, items...)
			} else {
				c.onCreate = append(c.onCreate, items...)
			}
		})
		if !ok {
			c.onMatch, c.onCreate = nil, nil
		}
	}
	c.span = r.spanFrom(from)
	return c
}

// whereCondition reads the condition of a MATCH; one that cannot be read is omitted.
func (r *reader) whereCondition() (e expr) {
	if !r.strictly(func(p *parser) { p.i++; e = p.expr() }) {
		return nil
	}
	return e
}

// strictly lets the strict parser read on from here. If it fails, what it
// read is omitted, to the end of the line or the next clause.
func (r *reader) strictly(read func(p *parser)) bool {
	p := &parser{source: r.source, limits: r.limits, i: r.i}
	read(p)
	if p.err == nil {
		r.i = max(p.i, r.i+1)
		return true
	}
	if e := (*Error)(nil); errors.As(p.err, &e) {
		r.notes.add(e.offset, "skipped: "+e.Message)
	} else {
		r.forgive("skipped: " + p.err.Error())
	}
	r.i++
	for !r.is(tEOF) && !r.is(';') && !r.peek().newline && !r.startsClause(0) {
		r.i++
	}
	return false
}

// readable turns an identifier into words: BORN_IN and bornIn are "born in".
func readable(identifier string) string {
	words := strings.FieldsFunc(identifier, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("_-./:`'\"", r)
	})
	if len(words) == 1 {
		words = camelWords(words[0])
	}
	for i, w := range words {
		words[i] = strings.ToLower(w)
	}
	return strings.Join(words, " ")
}

// camelWords splits camelCase, PascalCase and HTTPServer at its humps.
func camelWords(s string) []string {
	var words []string
	runes := []rune(s)
	from := 0
	for i := 1; i < len(runes); i++ {
		up := unicode.IsUpper(runes[i])
		hump := up && !unicode.IsUpper(runes[i-1]) ||
			up && i+1 < len(runes) && unicode.IsLower(runes[i+1]) && i-from > 1
		if hump {
			words = append(words, string(runes[from:i]))
			from = i
		}
	}
	return append(words, string(runes[from:]))
}

// readableVariable is the name that a variable gives its node: director,
// "soviet union" for sovietUnion, "Pink Floyd" for PinkFloyd or Pink_Floyd.
// Digits that only number the variable go: mountain2 is "mountain".
func readableVariable(name string) string {
	if strings.ContainsFunc(name, unicode.IsSpace) {
		return strings.Join(strings.Fields(name), " ")
	}
	if short := strings.TrimRight(name, "0123456789_"); len(short) > 2 {
		name = short
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' })
	if len(words) == 1 {
		words = camelWords(words[0])
	}
	if first, ok := firstRune(name); ok && unicode.IsLower(first) {
		for i, w := range words {
			if w != strings.ToUpper(w) {
				words[i] = strings.ToLower(w)
			}
		}
	}
	return strings.Join(words, " ")
}

func firstRune(s string) (rune, bool) {
	for _, r := range s {
		return r, true
	}
	return 0, false
}
