package reader

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/lab/score"
)

// task says how the calls of one task are read.
type task struct {
	// shows reports whether a call shows what an answer can be read off; the others go to the model.
	// The call's gold is nil if its question is unknown.
	shows func(*call) bool
	// item tells the calls of one question and task apart, so that each errs or not by itself.
	item func(*call) string
	// answer returns the text, and its tokens if the task asks for probabilities.
	answer func(*call) (string, []llm.Token)
}

// tasks are the reading tasks, by llm.Request.Task. All others draft.
var tasks = map[string]task{
	"answer":            {(*call).showsEvidence, noItem, (*call).answerQuestion},
	"candidate-answers": {always, (*call).reviewItem, (*call).readCandidates},
	"relation-paths":    {(*call).showsGoldPath, noItem, (*call).choosePaths},
	"evaluate-question": {always, noItem, (*call).judgeSet},
	"evaluate-answer":   {always, (*call).judgedAnswer, (*call).judgeAnswer},
	"judge-sufficiency": {always, (*call).shownText, (*call).judgeSufficiency},
	"rank-candidates":   {(*call).showsGoldCandidate, (*call).rankedItem, (*call).rank},
	"reflect":           {(*call).hasOptions, noItem, (*call).reflect},
	"verify":            {always, noItem, (*call).verify},
}

func always(*call) bool { return true }

func noItem(*call) string { return "" }

// Answers.

func (c *call) showsEvidence() bool { return len(c.sections["Facts"])+len(c.sections["Paths"]) > 0 }

func (c *call) evidence() []line {
	return append(lines(c.sections["Facts"], c.gold.parseFact), lines(c.sections["Paths"], c.gold.parsePath)...)
}

// answerQuestion writes the right answers among the evidence in braces, or a text of the lines that
// hold them.
func (c *call) answerQuestion() (string, []llm.Token) {
	evidence := c.evidence()
	if len(c.gold.references) > 0 {
		return c.writeText(evidence)
	}
	if yes, known := c.gold.verdict(); known {
		return c.inBraces([]string{map[bool]string{true: "Yes", false: "No"}[yes != c.wrong]})
	}
	return c.inBraces(c.readLines(evidence))
}

// read returns the right answers among some lines or, if the call errs, a wrong name.
func (c *call) readLines(lines []line) []string {
	s := c.collect(lines)
	if !c.wrong {
		return s.right
	}
	if name := c.choose(s.wrong); name != "" {
		return []string{name}
	}
	return nil
}

// inBraces writes answers as the prompts ask for them. Empty braces are no answer.
func (c *call) inBraces(names []string) (string, []llm.Token) {
	if len(names) == 0 {
		return "{}", []llm.Token{c.token("{}")}
	}
	var text strings.Builder
	var tokens []llm.Token
	for i, name := range names {
		opening := "{"
		if i > 0 {
			opening = " {"
		}
		name = strings.NewReplacer("{", "(", "}", ")").Replace(name)
		text.WriteString(opening + name + "}")
		tokens = append(tokens, c.token(opening), c.token(name), c.token("}"))
	}
	return text.String(), tokens
}

// writeText writes the facts whose names a reference has or, if there are none, the first.
func (c *call) writeText(evidence []line) (string, []llm.Token) {
	reference := " " + score.Normalise(strings.Join(c.gold.references, " ")) + " "
	supported := func(l line) bool {
		return slices.ContainsFunc(l.ends, func(name string) bool {
			key := score.NameKey(name)
			return key != "" && !strings.Contains(score.Normalise(c.question), key) &&
				strings.Contains(reference, " "+key+" ")
		})
	}
	var right, wrong []string
	for _, l := range evidence {
		sentence := strings.NewReplacer(" | ", ", ", " -> ", ", ").Replace(l.text) + "."
		if supported(l) {
			right = append(right, sentence)
		} else {
			wrong = append(wrong, sentence)
		}
	}
	text := strings.Join(right, " ")
	if c.wrong || len(right) == 0 {
		text = c.choose(wrong)
	}
	if !c.wrong && len(right) == 0 && len(wrong) > 0 {
		text = wrong[0]
	}
	if text == "" {
		text = "{}"
	}
	return text, []llm.Token{c.token(text)}
}

// Candidates and paths.

// reviewItem tells the second reading of the candidates from the first.
func (c *call) reviewItem() string {
	if len(c.sections["Candidates"]) > 0 {
		return "review"
	}
	return ""
}

func (c *call) groups() []line { return lines(c.sections[""], c.gold.parseGroup) }

func (c *call) readCandidates() (string, []llm.Token) { return c.inBraces(c.readLines(c.groups())) }

// goldPaths returns the numbers of the listed relation paths that are gold, and of the others.
func (c *call) goldPaths() (right, wrong []int) {
	for i, text := range c.sections[""] {
		_, steps, _ := strings.Cut(numbered.ReplaceAllString(text, ""), " -> ")
		if c.gold.paths[pathKey(steps)] {
			right = append(right, i+1)
		} else {
			wrong = append(wrong, i+1)
		}
	}
	return right, wrong
}

// showsGoldPath reports whether relation paths are to be chosen from a list that has a gold one.
// Otherwise the choice is a plan, like the proposal of paths.
func (c *call) showsGoldPath() bool {
	if c.schema == nil || c.gold == nil {
		return false
	}
	right, _ := c.goldPaths()
	return len(right) > 0
}

func (c *call) choosePaths() (string, []llm.Token) {
	right, wrong := c.goldPaths()
	if c.wrong && len(wrong) > 0 {
		right = []int{wrong[c.pick%uint64(len(wrong))]}
	}
	return encode(map[string]any{"paths": right[:min(len(right), c.maxItems("paths"))]})
}

// Verdicts.

func (c *call) judgeSet() (string, []llm.Token) {
	held, found := c.collect(c.groups()), make(map[int]bool)
	correct := true
	for _, name := range c.gold.split(strings.Join(c.headed["Candidates"], "; ")) {
		n := c.gold.find(name)
		correct = correct && n >= 0
		found[n] = true
	}
	incomplete := slices.ContainsFunc(held.right, func(name string) bool { return !found[c.gold.find(name)] })
	correct, incomplete = correct != c.wrong, incomplete != c.wrong
	reason := "not every candidate is right"
	if correct {
		reason = "every candidate is right"
	}
	if incomplete {
		reason += ", and an answer is missing"
	}
	return encode(map[string]any{"reason": reason, "correct": correct, "incomplete": incomplete})
}

// judged ends the prompts that ask of one answer whether it is right, and whether its relation is asked for.
var judged = regexp.MustCompile(`^(?:Is "(.*)" a right answer\? yes or no|Answer: (.*))$`)

func (c *call) judgedAnswer() string {
	for _, text := range c.sections[""] {
		if m := judged.FindStringSubmatch(text); m != nil {
			return m[1] + m[2]
		}
	}
	return ""
}

func (c *call) judgeAnswer() (string, []llm.Token) {
	return c.yesNo(c.gold.find(c.judgedAnswer()) >= 0)
}

func (c *call) shownText() string { return strings.Join(c.sections[""], "\n") }

func (c *call) judgeSufficiency() (string, []llm.Token) {
	return c.yesNo(len(c.collect(lines(c.sections[""], c.gold.parsePath)).right) > 0)
}

func (c *call) yesNo(yes bool) (string, []llm.Token) {
	words := []string{"no", "yes"}
	if yes == c.wrong {
		slices.Reverse(words)
	}
	t := c.token(words[1])
	other := *c
	other.confidence = 1 - c.confidence
	t.Top = append(t.Top, other.token(words[0]).Top...)
	return words[1], []llm.Token{t}
}

// Ranking.

func (c *call) candidates() (right, wrong []int) {
	for i, text := range c.sections[""] {
		if c.gold.find(numbered.ReplaceAllString(text, "")) >= 0 {
			right = append(right, i+1)
		} else {
			wrong = append(wrong, i+1)
		}
	}
	return right, wrong
}

// showsGoldCandidate reports whether a right answer is to be ranked. Otherwise the ranking is a plan:
// which relation, or which entity on the way, leads to the answer.
func (c *call) showsGoldCandidate() bool {
	if c.gold == nil {
		return false
	}
	right, _ := c.candidates()
	return len(right) > 0
}

func (c *call) rankedItem() string { return strings.Join(c.headed["About"], "\n") }

func (c *call) rank() (string, []llm.Token) {
	ranked, wrong := c.candidates()
	if c.wrong && len(wrong) > 0 {
		ranked = []int{wrong[c.pick%uint64(len(wrong))]}
	}
	ranked = ranked[:min(len(ranked), c.maxItems("ranked"))]
	type item struct {
		Item   int     `json:"item"`
		Weight float64 `json:"weight"`
	}
	var items []item
	for _, n := range ranked {
		items = append(items, item{n, 1 / float64(len(ranked))})
	}
	return encode(map[string]any{"ranked": items})
}

// Reflection.

// options are the answers that the schema of a reflection allows.
func (c *call) options() []string {
	var s struct {
		Properties struct {
			Answers struct {
				Items struct{ Enum []string }
			}
		}
	}
	if c.schema == nil || json.Unmarshal(c.schema.JSON, &s) != nil {
		return nil
	}
	return s.Properties.Answers.Items.Enum
}

func (c *call) hasOptions() bool { return len(c.options()) > 0 }

// reflect chooses the right answers among the options. The schema wants at least one: if there is
// none, that is the first.
func (c *call) reflect() (string, []llm.Token) {
	options := c.options()
	answers := c.readLines([]line{{ends: options}})
	if len(answers) == 0 {
		answers = options[:1]
	}
	return encode(map[string]any{"answers": answers})
}

// Answers as JSON.

func encode(v any) (string, []llm.Token) {
	text, err := json.Marshal(v)
	if err != nil { // maps of numbers, booleans and strings always marshal
		panic(fmt.Sprintf("reader: %v", err))
	}
	return string(text), nil
}

// maxItems returns the most items of an array of the schema.
func (c *call) maxItems(property string) int {
	var s struct {
		Properties map[string]struct{ MaxItems int }
	}
	if c.schema == nil || json.Unmarshal(c.schema.JSON, &s) != nil || s.Properties[property].MaxItems == 0 {
		return 1 << 10
	}
	return s.Properties[property].MaxItems
}

// Verification.

// verify corrects a draft by the evidence: right answers of the evidence replace the drafts that are
// about the same matter or are added, and drafts that name a right answer are kept. A call that errs
// takes a fact without a right answer in their place.
func (c *call) verify() (string, []llm.Token) {
	evidence, drafts := c.facts("Evidence"), c.facts("Draft")
	right, wrong := c.separate(evidence)
	if c.wrong {
		right = nil
		if len(wrong) > 0 {
			right = []int{wrong[c.pick%uint64(len(wrong))]}
		}
	}
	type edit struct {
		Draft    int    `json:"draft"`
		Action   string `json:"action"`
		Evidence int    `json:"evidence"`
	}
	edits := make([]edit, len(drafts))
	var written []string // of a rewriting
	used := make(map[int]bool)
	for i, d := range drafts {
		edits[i] = edit{i + 1, "keep", 0}
		about := c.sameMatter(d, c.nearestEvidence(i), evidence, right, used)
		switch {
		case about > 0 && !used[about]:
			used[about] = true
			edits[i] = edit{i + 1, "replace", about}
			written = append(written, evidence[about-1].text)
		case c.wrong && c.holdsRight(d), about > 0:
			edits[i].Action = "delete"
		default:
			written = append(written, d.text)
		}
	}
	add := []int{}
	for _, n := range right {
		if !used[n] && len(add) < c.maxItems("add") {
			add = append(add, n)
			written = append(written, evidence[n-1].text)
		}
	}
	if c.schema == nil {
		return strings.Join(written, "\n"), nil
	}
	return encode(map[string]any{"edits": edits, "add": add})
}

// facts parses a section of facts, which are numbered if the model is to refer to them.
func (c *call) facts(section string) []line {
	var out []line
	for _, text := range c.sections[section] {
		if c.schema != nil {
			text = numbered.ReplaceAllString(text, "")
		}
		out = append(out, c.gold.parseFact(text))
	}
	return out
}

func (c *call) holdsRight(l line) bool {
	return slices.ContainsFunc(l.ends, func(name string) bool { return c.gold.find(name) >= 0 })
}

// separate returns the numbers of the facts with a right answer, and of the others.
func (c *call) separate(facts []line) (right, wrong []int) {
	for i, f := range facts {
		if c.holdsRight(f) {
			right = append(right, i+1)
		} else {
			wrong = append(wrong, i+1)
		}
	}
	return right, wrong
}

// nearestEvidence returns the number of the evidence that the prompt names for a draft; 0 if there is none.
func (c *call) nearestEvidence(draft int) int {
	if m := nearest.FindStringSubmatch(c.sections["Draft"][draft]); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits
		return n
	}
	return 0
}

// sameMatter returns which of some facts of the evidence is about the matter of a draft: the nearest
// one, or one of the same subject and relation as the nearest or the draft, an unused one if there
// is any; 0 if there is none.
func (c *call) sameMatter(draft line, near int, evidence []line, among []int, used map[int]bool) int {
	matters := []string{matter(draft.text)}
	if near >= 1 && near <= len(evidence) {
		matters = append(matters, matter(evidence[near-1].text))
	}
	about := 0
	for _, n := range among {
		switch {
		case n == near && !used[n]:
			return n
		case slices.Contains(matters, matter(evidence[n-1].text)) && (about == 0 || used[about]):
			about = n
		}
	}
	return about
}

// matter returns the subject and relation of a fact.
func matter(fact string) string {
	parts := strings.SplitN(fact, " | ", 3)
	return strings.ToLower(strings.Join(parts[:min(len(parts), 2)], " | "))
}
