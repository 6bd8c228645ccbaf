package check

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// askedForm is a sentence, as a statement or as a question of yes or no, that answers a question which must be
// computed: "A is the oldest member" answers "what is the oldest member". The model plans that question as it would
// if it were asked, and the result is compared with what the sentence claims.
type askedForm struct {
	form     *regexp.Regexp
	question string // in the groups of form, and in ${kind}, which is that of ${name}
}

// askedForms are tried in this order.
var askedForms = func() (forms []askedForm) {
	groups := strings.NewReplacer(
		"NAME", `(?P<name>\S.*?)`,
		"BEST", `(?P<best>(?:most|least|fewest|\p{L}{2,}est) \p{L}.*?)`,
		"NEVER", `never (?P<never>.+?)`,
		"COUNT", `(?P<count>(?:(?P<words>exactly|only|at least|more than|over|at most|up to|fewer than|less than) )?`+
			`(?P<number>\d{1,3}|`+strings.Join(numberWords, "|")+`))`,
		"THINGS", `(?P<things>(?-i:\p{Ll}[\p{Ll}-]*))(?P<rest>(?: .*?)?)`,
		"TIMES", `times(?P<rest>(?: .*?)?)`,
		"ABOUT", `(?P<about>\S.*?)`,
		"TITLE", `(?P<about>(?:the )?(?-i:\p{Lu}\S*(?: (?:(?:of|the|and|in|for) )?[\p{Lu}\d]\S*)*))`,
		"THAN", `(?P<than>[^,]*\bthan (?:the )?(?-i:\p{Lu}).*?|\p{L}+ (?:before|after) (?:the )?(?-i:\p{Lu}).*?)`,
		"BE", `(?P<be>is|are|was|were|do|does|did|has|have|had)`)
	for _, f := range [][2]string{
		{`BE TITLE THAN`, "${be} ${about} ${than}?"},
		{`TITLE (?P<be>is|are|was|were) THAN`, "${be} ${about} ${than}?"},
		{`TITLE THAN`, "did ${about} ${than}?"},
		{`(?:is|was) NAME (?:also )?the BEST`, "What is the ${best}?"},
		{`NAME (?:is|was) (?:also )?the BEST`, "What is the ${best}?"},
		{`(?:does|did) NAME have the BEST`, "Which ${kind} has the ${best}?"},
		{`NAME (?:has|had) the BEST`, "Which ${kind} has the ${best}?"},
		{`(?:did|has|have|had) NAME NEVER`, "Which ${kind} never ${never}?"},
		{`BE NAME NEVER`, "Which ${kind} ${be} never ${never}?"},
		{`NAME (?:has|have|had) NEVER`, "Which ${kind} never ${never}?"},
		{`NAME BE NEVER`, "Which ${kind} ${be} never ${never}?"},
		{`NAME NEVER`, "Which ${kind} never ${never}?"},
		{`(?:(?:are|were) there|there (?:are|were)) COUNT THINGS`, "How many ${things}${rest} are there?"},
		{`BE ABOUT COUNT TIMES`, "How many times ${be} ${about}${rest}?"},
		{`ABOUT COUNT TIMES`, "How many times has ${about}${rest}?"},
		{`(?:do|did) COUNT THINGS`, "How many ${things}${rest}?"},
		{`BE COUNT THINGS`, "How many ${things} ${be}${rest}?"},
		{`COUNT THINGS`, "How many ${things}${rest}?"},
		{`BE ABOUT COUNT THINGS`, "How many ${things} ${be} ${about}${rest}?"},
		{`ABOUT (?:has|have|had) COUNT THINGS`, "How many ${things} does ${about} have${rest}?"},
		{`ABOUT COUNT THINGS`, "How many ${things} has ${about}${rest}?"},
	} {
		forms = append(forms, askedForm{regexp.MustCompile(`(?i)^` + groups.Replace(f[0]) + `\W*$`), f[1]})
	}
	return forms
}()

// afterWords stand before what a time is compared with.
var afterWords = regexp.MustCompile(`(?i)^.*\b(?:before|after) `)

// askedClaim is what a sentence claims of the result of a question.
type askedClaim struct {
	operation
	name   string // what is the best, or never was something; where it stands in the sentence is at
	at     int
	triple *graphv1.Triple
}

// readAsked reads a sentence by the first form that it has; nil if it has none. The question still has ${kind} in it.
func readAsked(text string) *askedClaim {
	if kgtext.SaysNamedAfter(text) {
		return nil
	}
	for _, f := range askedForms {
		m := f.form.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		group := func(name string) string { return string(f.form.ExpandString(nil, "${"+name+"}", text, m)) }
		a := &askedClaim{name: group("name")}
		a.question = strings.ReplaceAll(f.question, "${be}", strings.ToLower(group("be")))
		a.question = string(f.form.ExpandString(nil, strings.ReplaceAll(a.question, "${kind}", "$${kind}"), text, m))
		best, count := group("best"), group("count")
		_, kind, _ := strings.Cut(best, " ")
		_, isDate := kgtext.ParseDate(afterWords.ReplaceAllString(group("than"), ""))
		switch {
		case isDate, placeForm.MatchString(kind): // a bound, and "the largest in A"
			return nil
		case group("than") != "":
			a.isBound = true
			a.question = strings.ToUpper(a.question[:1]) + strings.Replace(a.question[1:], " The ", " the ", 1)
			a.triple = &graphv1.Triple{Subject: group("about"), Relation: cmp.Or(group("be"), "did"),
				Object: group("than")}
		case best != "":
			a.best, a.word, a.isSubject = a.name, strings.ToLower(strings.Fields(best)[0]), true
			a.triple = &graphv1.Triple{Subject: a.name, Relation: "is the", Object: best}
		case count != "":
			a.least, a.most = readBounds(group("words"), group("number"))
			things := strings.TrimSuffix(strings.TrimPrefix(a.question, "How many "), "?")
			a.triple = &graphv1.Triple{Subject: things, Relation: "number", Object: count}
		default:
			a.never = a.name
			a.triple = &graphv1.Triple{Subject: a.name, Relation: "never", Object: group("never")}
		}
		if a.name != "" {
			a.at = m[2*f.form.SubexpIndex("name")]
		}
		return a
	}
	return nil
}

// JudgeComputed judges what a question of yes or no claims as a whole, after JudgeMentions: the result of another
// question, or that an event joins its names. It returns nil of others.
func (c *Checker) JudgeComputed(ctx context.Context, q *question.Question, text string) (*Finding, error) {
	return c.judgeWhole(ctx, q, kgtext.Sentence{Text: text}, readAsked(text), "", false)
}

// judgeWhole judges what a sentence claims as a whole, where that is no fact: the result of the question that it was
// read as, how it describes a name, if that is not known to say nothing, or that an event joins its names. It returns
// nil of others. last is the subject of the sentences before.
func (c *Checker) judgeWhole(ctx context.Context, q *question.Question, s kgtext.Sentence, a *askedClaim, last string,
	mayDescribe bool) (*Finding, error) {
	if len(q.OtherKGs()) > 0 || len(s.Text) > longest {
		return nil, nil // a plan reads one knowledge graph
	}
	if a != nil {
		if f, err := c.judgeAsked(ctx, q, s, a, last); f != nil || err != nil {
			return f, err
		}
	}
	named, err := c.findMentions(ctx, q, s.Text)
	if err != nil {
		return nil, err
	}
	if mayDescribe {
		if f, err := c.judgeDescribed(ctx, q, s, named); f != nil || err != nil {
			return f, err
		}
	}
	return c.judgeEventOf(ctx, q, s, named)
}

// judgeAsked judges a sentence by the question that it answers, which must be computed.
func (c *Checker) judgeAsked(ctx context.Context, q *question.Question, s kgtext.Sentence, a *askedClaim,
	last string) (*Finding, error) {
	f := &Finding{Judgement: &verifierv1.Judgement{Verdict: verifierv1.Verdict_VERDICT_NOT_IN_KG,
		Reason: "no plan of what it claims could be made"}, Extracted: &generatorv1.ExtractedClaim{Triple: a.triple,
		Span: spanOf(s, mention{text: s.Text})}}
	questions := []string{a.question}
	if a.name != "" {
		f.Extracted.SubjectSpan = spanOf(s, mention{a.name, a.at, a.at + len(a.name)})
		if last != "" {
			a.triple.Subject = resolveName(a.name, []string{last})
		}
		var err error
		if questions, err = c.nameAsked(ctx, q, a); err != nil || len(questions) == 0 {
			return nil, err
		}
	}
	for _, a.question = range questions {
		if err := c.judgeByPlan(ctx, q, a.operation, f); err != nil || f.isDecided() {
			return f, err
		}
	}
	return f, nil
}

// judgeByPlan lets the model plan the question that a claim answers, and judges the claim by the result.
func (c *Checker) judgeByPlan(ctx context.Context, q *question.Question, o operation, f *Finding) error {
	var drafted *generatorv1.GenerateQueryPlanResponse
	err := q.Stage(ctx, orchestratorv1.Stage_STAGE_PLAN, func(ctx context.Context) (_ question.Cost, err error) {
		limits, err := q.Limits()
		if err != nil {
			return question.NoCost, nil // what facts leave open stays open
		}
		drafted, err = c.Generator.GenerateQueryPlan(ctx, &generatorv1.GenerateQueryPlanRequest{
			Question: o.question, Limits: limits})
		return drafted, err
	})
	if err != nil || len(drafted.GetPlan().GetClauses()) == 0 {
		return err
	}
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_EXECUTE, func(ctx context.Context) (_ question.Cost, err error) {
		f.Judgement, err = c.judgePlan(ctx, q, o, drafted.GetPlan())
		return question.NoCost, err
	})
}

// judgeSentences judges as a whole the sentences of which no claim is decided, which compare, or which describe a name.
// What is decided so takes the place of their claims.
func (c *Checker) judgeSentences(ctx context.Context, q *question.Question, sentences []kgtext.Sentence,
	before, found []*Finding) (all []*Finding, err error) {
	last := ""
	if len(before) > 0 {
		last = before[len(before)-1].Extracted.GetTriple().GetSubject()
	}
	for _, s := range sentences {
		isOf := func(f *Finding) bool {
			at := int(f.Extracted.GetSpan().GetStart())
			return s.Start <= at && at < s.End
		}
		rest := slices.IndexFunc(found, func(f *Finding) bool { return !isOf(f) })
		if rest < 0 {
			rest = len(found)
		}
		own := found[:rest]
		found = found[rest:]
		a := readAsked(s.Text)
		saysMore := func(f *Finding) bool {
			return f.isDecided() && !kgtext.IsType(f.Extracted.GetTriple().GetRelation())
		}
		// No triple says so, nor does one that the oldest supplier is a supplier.
		needsWhole := a != nil && (a.isBound && strings.Contains(a.question, " than ") ||
			a.best != "" && !slices.ContainsFunc(own, saysMore))
		if err == nil && (needsWhole || describesName.MatchString(s.Text) ||
			!slices.ContainsFunc(own, (*Finding).isDecided)) {
			var whole *Finding
			whole, err = c.judgeWhole(ctx, q, s, a, last, true)
			hasEvidence := func(f *Finding) bool { return len(f.Judgement.GetEvidence()) > 0 }
			if err == nil && whole != nil && (whole.isDecided() || len(own) == 0 || needsWhole ||
				hasEvidence(whole) && !slices.ContainsFunc(own, hasEvidence)) {
				own = []*Finding{whole}
			}
		}
		all = append(all, own...)
		if len(own) > 0 {
			last = own[len(own)-1].Extracted.GetTriple().GetSubject()
		}
	}
	return append(all, found...), err
}

// isDecided reports whether the knowledge graph supports or contradicts a claim.
func (f *Finding) isDecided() bool {
	return f.Judgement.GetVerdict() == verifierv1.Verdict_VERDICT_SUPPORTED ||
		f.Judgement.GetVerdict() == verifierv1.Verdict_VERDICT_CONTRADICTED
}

// nameAsked links the name of a sentence, and returns its question with each of the kinds that the name is of; none if
// the knowledge graph does not have what is needed of them.
func (c *Checker) nameAsked(ctx context.Context, q *question.Question, a *askedClaim) (questions []string, err error) {
	name := a.triple.GetSubject()
	resp, err := c.Retriever.LinkEntities(ctx, &retrieverv1.LinkEntitiesRequest{Kg: q.KG(), Text: name, Limit: links})
	if err != nil {
		return nil, err
	}
	folded := kgtext.Fold(name)
	for _, l := range resp.GetLinks() {
		if mentioned := kgtext.Fold(l.GetMention()); l.GetMatch() != graphv1.LinkMatch_LINK_MATCH_FUZZY &&
			(mentioned == folded || "the "+mentioned == folded) {
			a.links = append(a.links, l)
		}
	}
	if len(a.links) == 0 {
		return nil, nil
	}
	if a.never != "" {
		a.never = a.links[0].GetEntity()
	}
	if !strings.Contains(a.question, "${kind}") {
		return []string{a.question}, nil
	}
	around, err := c.listNeighbours(ctx, q, a.links[0].GetEntity(), retrieverv1.Direction_DIRECTION_OUT, aroundName)
	for _, t := range around.GetTriples() {
		if kgtext.IsType(t.GetRelation()) && len(questions) < mostKinds {
			kind := strings.ToLower(kgtext.VerbaliseRelation(t.GetObject()))
			questions = append(questions, strings.ReplaceAll(a.question, "${kind}", kind))
		}
	}
	return questions, err
}

// aroundName is how many triples of a name are read for its kinds, of which mostKinds are asked for.
const aroundName, mostKinds = 64, 2

// judgeNever judges whether a name is among the things of a plan that excludes what something was done to: it has a
// row as one of them, or what they are said not to have.
func (c *Checker) judgeNever(ctx context.Context, q *question.Question, name string, plan *graphv1.QueryPlan,
	j *verifierv1.Judgement) error {
	excludes := slices.ContainsFunc(plan.GetClauses(), func(qc *graphv1.QueryClause) bool {
		return qc.GetExclude() != nil
	})
	if !excludes || plan.GetResult().GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED {
		j.Reason = "the knowledge graph has no relation for this"
		return nil
	}
	plan.Clauses = append(plan.Clauses, &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{
		Values: &graphv1.QueryValues{Variable: plan.GetResult().GetVariable(), Entities: []string{name}}}})
	table, err := c.execute(ctx, q, plan, j)
	if err != nil || len(table.GetLimits()) > 0 {
		return err
	}
	if len(table.GetRows()) > 0 {
		j.Verdict, j.Reason = verifierv1.Verdict_VERDICT_SUPPORTED, "the knowledge graph lists none of it"
		addEvidence(j, table.GetRows()...)
		return nil
	}
	for _, clause := range plan.GetClauses() {
		if p := clause.GetExclude(); p != nil {
			clause.Clause = &graphv1.QueryClause_Match{Match: p}
		}
	}
	table, err = c.execute(ctx, q, plan, j)
	if err == nil && j.Reason == "" && len(table.GetRows()) > 0 {
		j.Verdict, j.Reason = verifierv1.Verdict_VERDICT_CONTRADICTED, "the knowledge graph has it"
		addEvidence(j, table.GetRows()...)
	}
	return err
}
