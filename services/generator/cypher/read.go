package cypher

import "strings"

// unit is the least run of clauses that has to be run together: a clause that
// writes alone, or one that reads with what depends on it.
type unit struct{ clauses []clause }

// reader finds the code in tokens and reads it forgivingly. Where it cannot go
// on it takes up again at the next clause, so that only what is broken is lost.
type reader struct {
	*source
	limits Limits
	i      int
	depth  int
	notes  *notes
}

func (r *reader) peek() token { return r.at(0) }

func (r *reader) at(ahead int) token { return r.tokens[min(r.i+ahead, len(r.tokens)-1)] }

func (r *reader) is(k kind) bool { return r.peek().kind == k }

func (r *reader) accept(k kind) bool {
	if r.is(k) && k != tEOF {
		r.i++
		return true
	}
	return false
}

func (r *reader) forgive(message string) { r.notes.add(r.peek().from, message) }

// missing reports what should stand behind the last token.
func (r *reader) missing(message string) {
	r.notes.add(r.tokens[max(r.i-1, 0)].to, message)
}

func (r *reader) since(from int) span {
	return span{int32(from), int32(max(r.i, from+1))}
}

// word gives the keyword ahead in capitals, or "".
func (r *reader) word(ahead int) string {
	t := r.at(ahead)
	if t.kind != tIdent || t.to-t.from > 10 {
		return ""
	}
	return strings.ToUpper(r.textOf(t))
}

// writeWords need a pattern behind them.
var writeWords = wordSet("CREATE MERGE MATCH")

// startsClause reports whether a clause starts at a token. Words of prose
// ("Create a node", "with") do not: a pattern has to follow, or the word has
// to stand in capitals or first on its line.
func (r *reader) startsClause(ahead int) bool {
	word := r.word(ahead)
	if !clauseWords[word] {
		return false
	}
	next := r.at(ahead + 1)
	switch {
	case writeWords[word]:
		return next.kind == '(' || next.kind == tIdent && r.goesOn(ahead+2)
	case word == "OPTIONAL":
		return r.word(ahead+1) == "MATCH"
	case word == "DETACH":
		return r.word(ahead+1) == "DELETE"
	}
	t := r.at(ahead)
	text := r.textOf(t)
	return text == word || t.newline && text == strings.ToLower(word)
}

// goesOn reports whether a pattern goes on behind a word without parentheses:
// MATCH c WHERE, MATCH d:Director-, CREATE p = (.
func (r *reader) goesOn(ahead int) bool {
	switch r.at(ahead).kind {
	case ':', '-', '<', '=':
		return true
	}
	word := r.word(ahead)
	return (word == "WHERE" || clauseWords[word]) && word == r.textOf(r.at(ahead))
}

// units reads all code.
func (r *reader) units() []unit {
	var units []unit
	for !r.is(tEOF) {
		if !r.startsClause(0) {
			if word := r.word(0); writeWords[word] && word == r.textOf(r.peek()) {
				r.forgive(word + " without a pattern is left out")
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
		r.notes.code(r.tokens[from].from, r.peek().from)
		if r.accept(';') || word == "RETURN" {
			return u
		}
	}
	return u
}

// junk passes over what cannot be read, to the end of the line or the next
// clause.
func (r *reader) junk() {
	for r.is(tBad) && r.textOf(r.peek()) == "`" {
		r.i++ // around code in prose
	}
	if r.is(';') || r.peek().newline || r.startsClause(0) {
		return // prose, it may be
	}
	r.forgive("this cannot be read and is left out")
	for first := true; !r.is(tEOF) && !r.is(';') && !r.startsClause(0) && (first || !r.peek().newline); first = false {
		r.i++
	}
}

// clause reads one clause: patterns forgivingly, all else by the strict
// parser. It gives nil for a clause that is lost.
func (r *reader) clause(word string) clause {
	from := r.i
	switch word {
	case "CREATE":
		r.i++
		if paths := r.paths(true); len(paths) > 0 {
			return &createClause{span: r.since(from), paths: paths}
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
			c.condition = r.where()
		}
		c.span = r.since(from)
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
	c := &mergeClause{path: paths[0], more: paths[1:]}
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
	c.span = r.since(from)
	return c
}

// where reads the condition of a MATCH; one that cannot be read is left out.
func (r *reader) where() (e expr) {
	if !r.strictly(func(p *parser) { p.i++; e = p.expr() }) {
		return nil
	}
	return e
}

// strictly lets the strict parser read on from here. Where it fails, what it
// read is left out, to the end of the line or the next clause.
func (r *reader) strictly(read func(p *parser)) bool {
	p := &parser{source: r.source, limits: r.limits, i: r.i}
	read(p)
	if p.err == nil {
		r.i = max(p.i, r.i+1)
		return true
	}
	if e, ok := p.err.(*Error); ok {
		r.notes.add(e.offset, "left out: "+e.Message)
	} else {
		r.forgive("left out: " + p.err.Error())
	}
	r.i++
	for !r.is(tEOF) && !r.is(';') && !r.peek().newline && !r.startsClause(0) {
		r.i++
	}
	return false
}
