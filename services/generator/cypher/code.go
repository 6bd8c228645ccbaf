package cypher

import "strings"

// lexLoosely cuts the code in a model's answer into tokens: what stands in
// code fences where there are any, or else everything. Offsets are those of
// the whole text.
func lexLoosely(text string, n *notes) *source {
	l := lexer{text: text, tokens: make([]token, 0, len(text)/4+1)}
	l.note = func(offset int, message string) {
		n.lexed = append(n.lexed, note{int32(offset), message})
	}
	var tokens []token
	regions := fenced(text)
	if !hasClause(text, regions) {
		regions = []region{{0, len(text)}}
	}
	for _, r := range regions {
		l.text, l.at, l.tokens = text[:r.to], r.from, tokens
		tokens = l.run()
		tokens = tokens[:len(tokens)-1]
	}
	end := int32(len(text))
	tokens = append(tokens, token{kind: tEOF, newline: true, from: end, to: end})
	s := newSource(text, tokens)
	s.loose = true
	return s
}

// region is a range of byte offsets.
type region struct{ from, to int }

// fenced finds what stands between lines of three backticks or tildes. A
// fence that is not closed reaches to the end.
func fenced(text string) []region {
	var regions []region
	open := -1
	at := 0
	for line := range strings.Lines(text) {
		trimmed := strings.TrimLeft(line, " \t>")
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			if open < 0 {
				open = at + len(line)
				if code, ok := codeAfterFence(trimmed); ok {
					open = at + strings.Index(line, code)
					if i := strings.Index(code, "```"); i >= 0 {
						regions = append(regions, region{open, open + i})
						open = -1
					}
				}
			} else {
				regions = append(regions, region{open, at})
				open = -1
			}
		} else if i := strings.Index(line, "```"); i >= 0 && open >= 0 {
			regions = append(regions, region{open, at + i}) // closed behind code
			open = -1
		}
		at += len(line)
	}
	if open >= 0 {
		regions = append(regions, region{min(open, len(text)), len(text)})
	}
	return regions
}

// codeAfterFence finds code that begins on the line of the fence.
func codeAfterFence(line string) (string, bool) {
	rest := strings.TrimSpace(strings.TrimLeft(line, "`~"))
	word, after, _ := strings.Cut(rest, " ")
	if clauseWords[strings.ToUpper(word)] {
		return rest, true
	}
	after = strings.TrimSpace(after)
	return after, after != ""
}

// hasClause reports whether a clause keyword stands in one of the regions.
func hasClause(text string, regions []region) bool {
	for _, r := range regions {
		upper := strings.ToUpper(text[r.from:r.to])
		for _, word := range []string{"CREATE", "MERGE", "MATCH"} {
			if strings.Contains(upper, word) {
				return true
			}
		}
	}
	return false
}

// clauseWords start a clause.
var clauseWords = wordSet("CREATE MERGE MATCH OPTIONAL UNWIND WITH RETURN SET REMOVE DELETE DETACH")
