package turtle

import "fmt"

// directive reads @prefix, @base, PREFIX or BASE.
func (p *parser) directive() (bool, error) {
	sparql := p.at(0) != '@'
	from := 1
	if sparql {
		from = 0
	}
	word := ""
	for _, w := range []string{"prefix", "base"} {
		if p.isWord(from, w, sparql) {
			word = w
		}
	}
	if word == "" {
		if sparql {
			return false, nil
		}
		return true, fmt.Errorf("%.10q is no directive; want @prefix or @base", p.ahead(10))
	}
	p.take(from + len(word))
	p.space()
	var err error
	if word == "prefix" {
		err = p.prefix()
	} else {
		err = p.newBase()
	}
	if err == nil && !sparql {
		err = p.want('.')
	}
	return true, err
}

// isWord says that a word stands k bytes on, followed by a space or an IRI.
func (p *parser) isWord(k int, word string, anyCase bool) bool {
	for i := range len(word) {
		c := p.at(k + i)
		if anyCase {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	switch p.at(k + len(word)) {
	case ' ', '\t', '\r', '\n', '<', '#':
		return true
	}
	return false
}

func (p *parser) prefix() error {
	name, err := p.name()
	if err != nil {
		return err
	}
	if p.at(0) != ':' {
		return fmt.Errorf("prefix %.40q: want ':', got %.10q", name, p.ahead(10))
	}
	p.take(1)
	p.space()
	iri, err := p.iri()
	if err != nil {
		return err
	}
	p.prefixes[name] = iri
	return nil
}

func (p *parser) newBase() error {
	iri, err := p.iri()
	p.base = iri
	return err
}
