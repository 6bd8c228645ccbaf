package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/triplemesh/triplemesh/lab/report/reporttest"
	"github.com/triplemesh/triplemesh/lab/results"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// document is a page as a browser reads it.
type document struct {
	text string
	all  []*html.Node
}

func pageOf(t *testing.T, r *Report) document {
	t.Helper()
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	d := document{text: b.String()}
	root, err := html.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			d.all = append(d.all, n)
		}
	}
	return d
}

func (d document) tags(name string) []*html.Node {
	var out []*html.Node
	for _, n := range d.all {
		if n.Data == name {
			out = append(out, n)
		}
	}
	return out
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// inert fails if a page would run, fetch or hide anything unasked.
func inert(t *testing.T, d document) {
	t.Helper()
	if scripts := d.tags("script"); len(scripts) != 1 || textOf(scripts[0]) != scriptText {
		t.Errorf("the page has %d scripts, want its own alone, unchanged", len(scripts))
	}
	if styles := d.tags("style"); len(styles) != 1 || textOf(styles[0]) != styleText {
		t.Errorf("the page has %d styles, want its own alone, unchanged", len(styles))
	}
	for _, n := range d.all {
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
				t.Errorf("<%s> has %s=%q", n.Data, a.Key, a.Val)
			}
			if (a.Key == "src" || a.Key == "href" || a.Key == "action") && !strings.HasPrefix(a.Val, "#") {
				t.Errorf("<%s> points away: %s=%q", n.Data, a.Key, a.Val)
			}
		}
		switch n.Data {
		case "iframe", "object", "embed", "link", "base", "img":
			t.Errorf("the page has <%s>", n.Data)
		}
	}
}

func TestThePageNeedsNothingBesidesItself(t *testing.T) {
	d := pageOf(t, reportOf(t, "io", sample(t)))
	inert(t, d)
	for _, meta := range d.tags("meta") {
		if attribute(meta, "http-equiv") == "Content-Security-Policy" {
			policy := attribute(meta, "content")
			for _, want := range []string{"default-src 'none'", "'" + hash(scriptText) + "'",
				"'" + hash(styleText) + "'"} {
				if !strings.Contains(policy, want) {
					t.Errorf("the policy %q lacks %s", policy, want)
				}
			}
			return
		}
	}
	t.Error("the page has no policy")
}

func TestThePageCanBeReadByEveryone(t *testing.T) {
	d := pageOf(t, reportOf(t, "io", sample(t)))
	if lang := attribute(d.tags("html")[0], "lang"); lang != "en" {
		t.Errorf("the language is %q", lang)
	}
	ids := make(map[string]bool)
	for _, n := range d.all {
		if id := attribute(n, "id"); id != "" {
			if ids[id] {
				t.Errorf("two elements have the id %q", id)
			}
			ids[id] = true
		}
	}
	for _, a := range d.tags("a") {
		if !ids[strings.TrimPrefix(attribute(a, "href"), "#")] {
			t.Errorf("the link %q leads nowhere", attribute(a, "href"))
		}
	}
	for _, th := range d.tags("th") {
		if scope := attribute(th, "scope"); scope != "col" && scope != "row" {
			t.Errorf("a head of a table has the scope %q: %s", scope, textOf(th))
		}
	}
	for _, table := range d.tags("table") {
		if !hasCaption(table) {
			t.Error("a table has no caption")
		}
	}
	for _, svg := range d.tags("svg") {
		if attribute(svg, "aria-label") == "" && attribute(svg, "aria-hidden") == "" {
			t.Error("a plot has no label")
		}
	}
	for _, field := range append(d.tags("select"), d.tags("input")...) {
		if field.Parent.Data != "label" {
			t.Errorf("the field %q has no label", attribute(field, "name"))
		}
	}
}

func hasCaption(table *html.Node) bool {
	for c := range table.ChildNodes() {
		if c.Data == "caption" {
			return textOf(c) != ""
		}
	}
	return false
}

func TestEveryQuestionIsInThePageWithItsOutcomes(t *testing.T) {
	d := pageOf(t, reportOf(t, "io", sample(t)))
	rows := make(map[string][]string)
	for _, tr := range d.tags("tr") {
		id := attribute(tr, "data-id")
		if id == "" {
			continue
		}
		var states []string
		for c := range tr.ChildNodes() {
			if c.Data == "td" && attribute(c, "data-p") != "" {
				states = append(states, strings.TrimSuffix(attribute(c, "class")+" "+attribute(c, "data-l"), " "))
			}
		}
		rows[id] = append(rows[id], strings.Join(states, ", "))
	}
	tests := []struct{ name, id, want string }{
		{"right by all", "q00004", "o; y, n candidates; y, y"},
		{"edited out", "q00002", "o; n answer, n candidates; n answer, n fixed"},
		{"failed, and not asked by one", "q00019", "n answer; n answer, f failed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.Join(rows[test.id], "; "); got != test.want {
				t.Errorf("the outcomes of %s are %q, want %q", test.id, got, test.want)
			}
		})
	}
	if len(rows) != 20 {
		t.Errorf("%d questions, want 20", len(rows))
	}
}

func TestDetailsAreWhereTheRowsSay(t *testing.T) {
	r := reportOf(t, "io", sample(t))
	d := pageOf(t, r)
	packs := make(map[string]string)
	for _, div := range d.tags("div") {
		if id := attribute(div, "id"); strings.HasPrefix(id, "pack") {
			packs[strings.TrimPrefix(id, "pack")] = textOf(div)
		}
	}
	for _, s := range r.Sections {
		for _, q := range s.Questions {
			for _, o := range q.Outcomes {
				if o.State == "" {
					continue
				}
				pack, _, _ := strings.Cut(o.Place, ".")
				if views := unpack(t, packs[pack]); !strings.HasPrefix(views, "[{") {
					t.Fatalf("pack %s is %.40q", pack, views)
				}
			}
		}
	}
}

func unpack(t *testing.T, pack string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(pack)
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestHostileDataStaysData(t *testing.T) {
	names := map[string]string{
		"an end of a script":         `</script><script>alert(1)</script>`,
		"an end of a style":          `</style><img src=x onerror=alert(1)>`,
		"a quoted attribute":         `" onmouseover="alert(1)" data-x="`,
		"an end of a cell":           `</td></tr></table><iframe src="https://example.org">`,
		"a comment":                  `<!-- <script> -->`,
		"right to left":              "\u202eمثال\u2066 ليس\u0000",
		"ten thousand characters":    strings.Repeat("長", 10_000),
		"an instruction of template": `{{.Script}} ${alert(1)}`,
	}
	for name, text := range names {
		t.Run(name, func(t *testing.T) {
			q := reporttest.Question(1)
			q.ID, q.Question, q.Answers = "id "+text, text, []string{text}
			run := reporttest.PgAkv(q, reporttest.InAnswer, 3)
			run.GetPgAkv().Cypher = text
			run.GetPgAkv().GroundGraph.Subjects[0].Subject = text
			run.GroundingReason = text
			run.Conflicts = []*orchestratorv1.Conflict{{Subject: text, Relation: text,
				Triples: []*graphv1.Triple{{Subject: text, Relation: text, Object: text}}}}
			m := reporttest.Manifest("zsre", "wikidata", "pg-akv")
			m.Dataset.Name, m.Version, m.Models, m.Encoder, m.Options.Preset = text, text, []string{text}, text,
				"x"+text
			m.Leak.Pairs = []results.LeakPair{{Stage: text, Example: text, ID: text, Question: text}}
			// A method's name comes into the plots too.
			other := m
			other.Method, other.Options.Preset = "m"+text, ""
			root := t.TempDir()
			write(t, root+"/one", m, results.NewLine(q, nil, run, nil))
			write(t, root+"/two", other, results.NewLine(q, nil, run, nil))
			r := reportOf(t, "io", root)
			r.Title = text
			d := pageOf(t, r)
			inert(t, d)
			if rows := len(d.tags("tr")); rows < 6 {
				t.Errorf("only %d rows are left of the page's tables", rows)
			}
			var markdown bytes.Buffer
			if err := r.Markdown(&markdown); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(markdown.String(), "<script") || strings.Contains(markdown.String(), "<img") {
				t.Error("the Markdown has markup")
			}
		})
	}
}

// write writes results to a directory of any name.
func write(t *testing.T, dir string, m results.Manifest, lines ...results.Line) {
	t.Helper()
	journal, err := results.Resume(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if err := journal.Add(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
}
