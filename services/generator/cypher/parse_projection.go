package cypher

// projection reads what follows WITH or RETURN.
func (p *parser) projection(from int32, isReturn bool) clause {
	c := &projection{isReturn: isReturn}
	c.distinct = p.keywords("DISTINCT")
	if p.accept('*') {
		c.star = true
		if p.accept(',') {
			c.items = p.items()
		}
	} else {
		c.items = p.items()
	}
	if p.keywords("ORDER", "BY") {
		for ok := true; ok && p.err == nil; ok = p.accept(',') {
			k := &sortKey{value: p.expr()}
			if p.keywords("DESC") || p.keywords("DESCENDING") {
				k.descending = true
			} else if !p.keywords("ASC") {
				p.keywords("ASCENDING")
			}
			c.order = append(c.order, k)
		}
	}
	if p.keywords("SKIP") {
		c.skip = p.expr()
	}
	if p.keywords("LIMIT") {
		c.limit = p.expr()
	}
	if !isReturn && p.keywords("WHERE") {
		c.condition = p.expr()
	}
	c.span = p.since(from)
	return c
}

func (p *parser) items() []*item {
	var items []*item
	for ok := true; ok && p.err == nil; ok = p.accept(',') {
		from := p.start()
		it := &item{value: p.expr()}
		it.span = p.since(from)
		if p.keywords("AS") {
			it.name, it.aliased = p.name("an alias"), true
		} else if v, ok := it.value.(*variable); ok {
			it.name = v.name
		} else {
			it.name = p.written(it.span)
		}
		items = append(items, it)
	}
	return items
}

// written is the text of a span as it stands in the query.
func (s *source) written(at span) string {
	if at.to <= at.from || int(at.to) > len(s.tokens) {
		return ""
	}
	return s.text[s.tokens[at.from].from:s.tokens[at.to-1].to]
}

// canonical is the text of a span without its white space: equal for
// expressions that are written alike.
func (s *source) canonical(at span) string {
	var text []byte
	for _, t := range s.tokens[at.from:at.to] {
		text = append(append(text, s.textOf(t)...), ' ')
	}
	return string(text)
}
