package propose

import (
	"regexp"
	"strings"
)

// Parts of Markdown that are no prose. They are found with plain expressions: a
// file that is no Markdown has none of them, and what is missed is asked about.
var (
	frontMatter = regexp.MustCompile(`\A(?:\x{FEFF})?---[ \t]*\r?\n(?s:.*?)\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\z)`)
	fenced      = regexp.MustCompile("(?m)^[ \t]{0,3}(?:```(?s:.*?)(?:^[ \t]{0,3}```[ \t]*\r?$|\\z)|~~~(?s:.*?)(?:^[ " +
		"\t]{0,3}~~~[ \t]*\r?$|\\z))")
	comment    = regexp.MustCompile(`(?s)<!--.*?-->`)
	linkTarget = regexp.MustCompile(`\]\([^()\s]*(?:\s+"[^"\n]*")?\)`)
)

// blank puts spaces in the place of what is no prose, one for each character, so
// that what is left stands where it stood.
func blank(text string) string {
	for _, part := range []*regexp.Regexp{frontMatter, fenced, comment, linkTarget} {
		text = part.ReplaceAllStringFunc(text, spaces)
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("\r*`[]\uFEFF", r) {
			return ' '
		}
		return r
	}, text)
}

func spaces(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, s)
}
