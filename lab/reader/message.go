package reader

import (
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
)

// message is the last user message of a request, by its headings.
type message struct {
	question string
	// headed are the texts behind the headings, such as "Candidates" and "Path".
	headed map[string][]string
	// sections are the lines below a heading that has a line of its own, such as "Facts"; the lines
	// below none are in the section "".
	sections map[string][]string
}

// headings of the prompts. Names are kept from looking like one by prompt.Line.
var (
	sectionHeading = regexp.MustCompile(`^(Facts|Paths|Evidence|Draft|Candidates):$`)
	inlineHeading  = regexp.MustCompile(`^(Question|Path|Candidates|Others|About|Review(?: of the set)?): (.*)$`)
	numbered       = regexp.MustCompile(`^\d+\. `)
)

func parseMessage(req llm.Request) message {
	out := message{headed: make(map[string][]string), sections: make(map[string][]string)}
	var text string
	for _, m := range slices.Backward(req.Messages) {
		if m.Role == llm.RoleUser {
			text = m.Content
			break
		}
	}
	section := ""
	for line := range strings.SplitSeq(text, "\n") {
		if h := sectionHeading.FindStringSubmatch(line); h != nil {
			section = h[1]
			continue
		}
		if h := inlineHeading.FindStringSubmatch(line); h != nil {
			if h[1] == "Question" {
				out.question = h[2]
			}
			out.headed[h[1]] = append(out.headed[h[1]], h[2])
			continue
		}
		if strings.TrimSpace(line) != "" {
			out.sections[section] = append(out.sections[section], line)
		}
	}
	return out
}

// unconfirmed marks a fact that no evidence supports.
const unconfirmed = " (unconfirmed)"

var (
	nearest = regexp.MustCompile(` \(nearest evidence (\d+)\)$`)
	// validity is how kgtext.FormatObject shows the time of a fact.
	validity = regexp.MustCompile(` \((?:(?:since|until) -?\d[^()]*|-?\d[^()]* to -?\d[^()]*)\)$`)
	// quoted is how an object that reads as a sentence is shown.
	quoted = regexp.MustCompile(`^\(a text: “(.*)”\)$`)
)

// line is one line of evidence.
type line struct {
	text string
	// ends are the names that may be answers; inner are the others on a path, the topic entity first.
	ends, inner []string
}

// parseFact reads "subject | relation | object".
func (g *gold) parseFact(text string) line {
	text = nearest.ReplaceAllString(strings.TrimSuffix(text, unconfirmed), "")
	parts := strings.SplitN(text, " | ", 3)
	if len(parts) < 3 {
		return line{text: text}
	}
	object := parts[2]
	if g.find(object) < 0 {
		object = validity.ReplaceAllString(object, "")
	}
	return line{text: text, ends: append(g.split(unquote(object)), unquote(parts[0]))}
}

func unquote(name string) string {
	if q := quoted.FindStringSubmatch(name); q != nil {
		return q[1]
	}
	return name
}

// parsePath reads "Topic -> relation -> entity; entity". What stands between topic and ends are
// relations and entities alike.
func (g *gold) parsePath(text string) line {
	parts := strings.Split(text, " -> ")
	last := len(parts) - 1
	return line{text: text, ends: g.split(parts[last]), inner: parts[:last]}
}

// parseGroup reads "Topic -> relation: entity; entity; …".
func (g *gold) parseGroup(text string) line {
	label, last := "", text
	if i := strings.LastIndex(text, " -> "); i >= 0 {
		label, last = text[:i], text[i:]
	}
	_, ends, _ := strings.Cut(last, ": ")
	topic, _, _ := strings.Cut(label, " -> ")
	return line{text: text, ends: g.split(ends), inner: []string{topic}}
}

// split separates names that are joined by "; ". A right answer may itself contain one.
func (g *gold) split(text string) []string {
	const longest = 4 // parts of one name
	parts := strings.Split(text, "; ")
	var names []string
	for i := 0; i < len(parts); {
		n := 1
		for joined := min(longest, len(parts)-i); joined > 1; joined-- {
			if g.find(strings.Join(parts[i:i+joined], "; ")) >= 0 {
				n = joined
				break
			}
		}
		if name := strings.TrimSpace(strings.Join(parts[i:i+n], "; ")); name != "" && name != "…" {
			names = append(names, name)
		}
		i += n
	}
	return names
}

// evidenceNames are the right and the wrong names of some lines of evidence.
type evidenceNames struct {
	// right has one name of each right answer, in the order of the lines.
	right []string
	// wrong are the names that are no right answers: ends of the lines that the question does not
	// name or, if there are none, any others.
	wrong []string
}

func (c *call) collect(lines []line) evidenceNames {
	var s evidenceNames
	taken := make(map[int]bool)
	add := func(names []string) {
		for _, name := range names {
			if n := c.gold.find(name); n >= 0 && !taken[n] {
				taken[n] = true
				s.right = append(s.right, name)
			}
		}
	}
	asked := kgtext.FoldWords(c.question)
	var others []string
	for _, l := range lines {
		add(l.ends)
		for _, name := range l.ends {
			switch {
			case c.gold.find(name) >= 0:
			case asked.Mention(kgtext.Fold(name)):
				others = append(others, name)
			default:
				s.wrong = append(s.wrong, name)
			}
		}
		if len(l.inner) > 0 && c.gold.find(l.inner[0]) < 0 {
			others = append(others, l.inner[0])
		}
	}
	for _, l := range lines {
		if len(s.right) == 0 {
			add(l.inner)
		}
	}
	if len(s.wrong) == 0 {
		s.wrong = others
	}
	s.wrong = distinct(s.wrong)
	return s
}

func distinct(names []string) []string {
	var out []string
	seen := make(map[string]bool)
	for _, name := range names {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// lines parses lines of one form.
func lines(texts []string, parse func(string) line) []line {
	out := make([]line, len(texts))
	for i, text := range texts {
		out[i] = parse(text)
	}
	return out
}
