package report

import (
	"bytes"
	"strings"
	"testing"
)

// hostile are names that knowledge graphs, questions and models may hold.
var hostile = []string{
	"<script>alert(1)</script>", "](javascript:alert(1))", "![x](http://evil/x.png)",
	"\x1b]8;;http://evil\x07click\x1b]8;;\x07",
	"a\x07b", "a\u202eb", "$x$ | `y` **z**", "<img src=x onerror=alert(1)>", "a\n# b",
}

func TestHostileNamesAreTextInMarkdown(t *testing.T) {
	for _, name := range hostile {
		r := &Report{Title: name, Lead: []string{name}, Overviews: []*Table{{Caption: name, Note: name,
			Columns: []Column{{Name: name, Text: true}}, Rows: [][]Cell{{{Text: name, Below: name}}}}},
			Sections: []*Section{{Title: name, Note: name, Warnings: []string{name}}}}
		var b bytes.Buffer
		if err := r.Markdown(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if strings.ContainsAny(text, "\x1b\x07\u202e") || strings.Contains(text, "<script") ||
			strings.Contains(text, "<img") {
			t.Errorf("of %q it makes\n%s", name, text)
		}
		for _, mark := range []string{"](", "![", "$x", "|`", "`y", "**z", "\n# b"} {
			if strings.Contains(strings.ReplaceAll(text, `\`+mark, ""), mark) && strings.Contains(name, mark) {
				t.Errorf("of %q it makes a mark %q:\n%s", name, mark, text)
			}
		}
	}
}
