package cypher

import (
	"regexp"
	"regexp/syntax"
)

// maxPattern is the longest regular expression, in bytes. A short one can stand
// for a long one all the same: a{1000}b{1000}.
const maxPattern = 1000

// matches tells whether the whole of a text matches a pattern. To match takes
// up to the length of both multiplied, which nothing can interrupt, so it is
// charged for before.
func (x *executor) matches(e *binary, text, pattern string) Value {
	if len(pattern) > maxPattern {
		x.over("bytes in a pattern", maxPattern)
		return nil
	}
	whole := "^(?:" + pattern + ")$"
	parsed, err := syntax.Parse(whole, syntax.Perl)
	if err != nil {
		x.fail(e.span, argumentError, "InvalidArgumentValue", "the pattern cannot be read: %v", err)
		return nil
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || !x.step(len(program.Inst)+(1+len(text)/8)*len(program.Inst)/8) || !x.hold(40*len(program.Inst)) {
		return nil
	}
	compiled, err := regexp.Compile(whole)
	if err != nil {
		x.fail(e.span, argumentError, "InvalidArgumentValue", "the pattern cannot be read: %v", err)
		return nil
	}
	return compiled.MatchString(text)
}
