package cypher

import (
	"slices"
	"testing"
)

func tokens(s *source) []string {
	var texts []string
	for _, t := range s.tokens[:len(s.tokens)-1] {
		texts = append(texts, s.textOf(t))
	}
	return texts
}

func TestLex(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"dots of a length are no decimal point", "*1..2", []string{"*", "1", "..", "2"}},
		{"an arrow is characters", "<-[:R]->", []string{"<", "-", "[", ":", "R", "]", "-", ">"}},
		{"comments are left out", "a // b\n/* c\n*/ d", []string{"a", "d"}},
		{"names may be of any script", "größe_1 名前", []string{"größe_1", "名前"}},
		{"a quote is escaped inside a string", `'a\'b' "c"`, []string{`'a\'b'`, `"c"`}},
		{"two backticks stand for one", "`a``b` c", []string{"`a``b`", "c"}},
		{"exponents belong to the number", "1e3 1.5E-2 .5", []string{"1e3", "1.5E-2", ".5"}},
		{"operators of two characters", "<= >= <> =~ +=", []string{"<=", ">=", "<>", "=~", "+="}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := tokens(lex(test.text)); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestLexLoosely(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"an apostrophe within a name", "'O'Brien')", []string{"'O'Brien'", ")"}},
		{"an empty string stays empty", "{a: '', b: ''}", []string{"{", "a", ":", "''", ",", "b", ":", "''", "}"}},
		{"keywords may follow a string", "'a' AND 'b' OR", []string{"'a'", "AND", "'b'", "OR"}},
		{"a string ends with its line", "'abc})\nMATCH", []string{"'abc", "}", ")", "MATCH"}},
		{"only fenced code is read", "it's\n```cypher\nCREATE (a)\n```\nit's", []string{"CREATE", "(", "a", ")"}},
		{"a fence may stay open", "```\nCREATE (a)", []string{"CREATE", "(", "a", ")"}},
		{"code may follow a fence on its line", "``` CREATE (a) ```", []string{"CREATE", "(", "a", ")"}},
		{"typographic quotes are a pair", "“a b”", []string{"“a b”"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := tokens(lexLoosely(test.text, &notes{})); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestReadable(t *testing.T) {
	for identifier, want := range map[string]string{
		"BORN_IN": "born in", "bornIn": "born in", "HTTPServer": "http server",
		"people.person.birth": "people person birth",
		"born in":             "born in", "HAS_SPouse": "has spouse", "X": "x", "": "",
	} {
		if got := readable(identifier); got != want {
			t.Errorf("readable(%q) = %q, want %q", identifier, got, want)
		}
	}
	for variable, want := range map[string]string{
		"director": "director", "sovietUnion": "soviet union", "PinkFloyd": "Pink Floyd", "marie_curie": "marie curie",
		"mountain2": "mountain", "USA": "USA", "paul McCartney": "paul McCartney", "a1": "a1",
	} {
		if got := readableVariable(variable); got != want {
			t.Errorf("readableVariable(%q) = %q, want %q", variable, got, want)
		}
	}
}

func TestDecodeLimits(t *testing.T) {
	t.Run("what was read before a limit is given back", func(t *testing.T) {
		text := "CREATE (a {name: 'A'})-[:R]->(b {name: 'B'})\nUNWIND range(1, 99) AS i CREATE ({name: i})"
		pseudo, _, err := Decode(t.Context(), text, Limits{Nodes: 10})
		if err == nil || len(pseudo.Triples) != 1 {
			t.Errorf("got %v, %v", pseudo.Triples, err)
		}
	})
	t.Run("text that is too long is cut", func(t *testing.T) {
		text := "CREATE (a {name: 'A'})-[:R]->(b {name: 'B'})\nCREATE (a)-[:S]->(b)"
		pseudo, _, err := Decode(t.Context(), text, Limits{Bytes: 46})
		if err == nil || len(pseudo.Triples) != 1 {
			t.Errorf("got %v, %v", pseudo.Triples, err)
		}
	})
	t.Run("text that is not UTF-8 is mended", func(t *testing.T) {
		pseudo, _, err := Decode(t.Context(), "CREATE (a {name: 'A\xff'})-[:R]->(b {name: 'B'})", Limits{})
		if err != nil || len(pseudo.Triples) != 1 || pseudo.Triples[0].Subject != "A\uFFFD" {
			t.Errorf("got %v, %v", pseudo.Triples, err)
		}
	})
}
