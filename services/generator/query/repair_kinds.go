package query

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// typeOf returns the kind that a clause says a variable is, empty for other clauses.
func typeOf(c *graphv1.QueryClause) string {
	if p := c.GetMatch(); p != nil && p.GetSteps()[0].GetRelation() == TypeRelation {
		return p.GetEnd().GetEntity()
	}
	return ""
}

// isTitled reports whether the question has a name in capitals, and is not all in capitals or none.
func (r *repairer) isTitled(name string) (string, bool) {
	at := strings.Index(r.lower, strings.ToLower(name))
	if at < 0 || len(r.lower) != len(r.question) || r.lower == r.question {
		return "", false
	}
	written := r.question[at : at+len(name)]
	if written == strings.ToLower(written) {
		return "", false
	}
	for word := range strings.FieldsSeq(written) {
		if first := []rune(word)[0]; !unicode.IsUpper(first) && len(word) > 3 {
			return "", false
		}
	}
	return written, true
}

// behindPreposition ends with the word that ties a name to what stands before it: "the projects for".
var behindPreposition = regexp.MustCompile(`\b(for|by|from|with|to|at) (?:the )?$`)

// hasOtherKind reports whether a variable also is of another kind, which the question names.
func (r *repairer) hasOtherKind(variable, kind string) bool {
	return slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		other := typeOf(c)
		return other != "" && other != kind && c.GetMatch().GetStart().GetVariable() == variable && r.sharesWord(other)
	})
}

// isBare reports whether the question has a kind as the name of one thing, in the singular without an article, and the
// plan names nothing else: "how many roots does parsley have".
func (r *repairer) isBare(kind string) bool {
	if kind == "" || isGeneric(kind) || strings.HasSuffix(kind, "s") || len(kgtext.ThingNames(r.plan)) > 0 {
		return false
	}
	words, name := kgtext.FoldWords(r.question), kgtext.Fold(kind)
	isBehind := func(verb string) bool { return words.Mention(verb + " " + name) }
	isSaid := strings.HasSuffix(string(words), " "+name+" ") // of something else: "which tree is tall"
	return slices.ContainsFunc([]string{"does", "did", "has"}, isBehind) ||
		!isSaid && !kgtext.IsParticiple(kind) && slices.ContainsFunc([]string{"is", "was"}, isBehind)
}

// nameKinds makes a name of a kind that the question has in capitals or bare: Anna_Lind(drafted_by="team"), and what
// things are tied to if they are of a kind beside it: Project(anna_lind=True).
func (r *repairer) nameKinds() {
	for i, c := range r.plan.GetClauses() {
		kind := typeOf(c)
		name, ok := r.isTitled(kind)
		switch {
		case r.isBare(kind):
			name = kind
		case ok && len(kgtext.ThingNames(r.plan)) == 0 && ofForm.MatchString(r.readBefore(kind)):
		case ok && r.isArgument(c) && !articleForm.MatchString(r.readBefore(kind)):
		case !ok || kind == "" || len(strings.Fields(kind)) < 2 && !hasInnerCapital(name),
			superlativeEnd.MatchString(r.readBefore(kind)):
			continue // of one word only those that no kind is written as: "NASA", not "Oscar" nor "the cheapest SUV"
		}
		v := c.GetMatch().GetStart().GetVariable()
		named := valuesClause(v, []string{name})
		if words := r.readTie(kind); words != "" && r.hasOtherKind(v, kind) {
			named = matchClause(newPattern(v, words, entityTerm(name)))
		}
		r.because("the question names " + name)
		r.plan.Clauses[i] = named
		return
	}
}

// properKind is "which female Olympians have", whose kind is written as a name.
var properKind = regexp.MustCompile(`^(?i:which|what|how many) (?:\p{Ll}+ )?(\p{Lu}\p{Ll}+s) \p{Ll}+\b`)

// readProperKind asks for the kind that the question writes as a name, where the draft has another one: athletes.
func (r *repairer) readProperKind() {
	m, root := properKind.FindStringSubmatch(r.question), r.root()
	if m == nil {
		return
	}
	for _, c := range r.plan.GetClauses() {
		if kind := typeOf(c); kind != "" && c.GetMatch().GetStart().GetVariable() == root &&
			!r.sharesWord(kind) {
			c.GetMatch().End = entityTerm(kgtext.Singular(m[1]))
			r.because("the question asks for " + m[1])
		}
	}
}

// readTie returns what the question says that things have to do with a name that the draft has as a kind: the
// preposition before it, or the verb behind it of what it does; empty if neither is there.
func (r *repairer) readTie(kind string) string {
	before, behind, _ := strings.Cut(r.lower, strings.ToLower(kind))
	if m := behindPreposition.FindStringSubmatch(before); m != nil {
		return m[1]
	}
	if m := doneForm.FindStringSubmatch(behind); m != nil && doesForm.MatchString(before) {
		return m[1]
	}
	return ""
}

// doesForm ends with what stands before a name that does something, doneForm is what it does.
var (
	doesForm = regexp.MustCompile(`\b(?:does|did|do) (?:the )?$`)
	doneForm = regexp.MustCompile(`^ (\p{Ll}{3,})\W*$`)
)

// readBefore returns what the question has before a kind, in lower case.
func (r *repairer) readBefore(kind string) string {
	before, _, _ := strings.Cut(r.lower, strings.ToLower(kind))
	return before
}

// articleForm ends with what stands before a kind and before no name of one word.
var articleForm = regexp.MustCompile(`^$|\b(?:an?|the|each|every|which|what|many|all|any) $`)

// ofForm ends with what stands right before a name.
var ofForm = regexp.MustCompile(`\b(?:of|in|at|from) $`)

// isArgument reports whether a clause says the kind alone of what a relation of that name leads to:
// Project(anna=Anna()).
func (r *repairer) isArgument(kind *graphv1.QueryClause) bool {
	v := kind.GetMatch().GetStart().GetVariable()
	return kgtext.DescribeRelation(factOf(r.plan, v)) == typeOf(kind) &&
		!slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
			return c != kind && c.GetMatch().GetStart().GetVariable() == v
		})
}

// hasInnerCapital reports whether a word has a capital behind its first letter.
func hasInnerCapital(word string) bool {
	_, first := utf8.DecodeRuneInString(word)
	return strings.ContainsFunc(word[first:], unicode.IsUpper)
}

// splitKeyword makes a fact of a name that begins with the word of a relation: Film(actor Per Holm).
func (r *repairer) splitKeyword() {
	for i, c := range r.plan.GetClauses() {
		names := c.GetValues().GetEntities()
		if len(names) != 1 || strings.Contains(r.lower, strings.ToLower(names[0])) {
			continue
		}
		words := strings.Fields(names[0])
		at := slices.IndexFunc(words, func(w string) bool { return w != strings.ToLower(w) })
		if at < 1 || !strings.Contains(r.lower, strings.ToLower(strings.Join(words[at:], " "))) {
			continue
		}
		v := c.GetValues().GetVariable()
		fact := matchClause(newPattern(v, strings.Join(words[:at], " "), entityTerm(strings.Join(words[at:], " "))))
		r.because("a name does not begin with " + words[0])
		r.plan.Clauses[i] = fact
		return
	}
}

// splitFlags makes facts of kinds that are a verb and its object: plays_piano=True.
func (r *repairer) splitFlags() {
	for _, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		if p == nil {
			p = c.GetExclude()
		}
		if p == nil || p.GetSteps()[0].GetRelation() != TypeRelation {
			continue
		}
		verb, object, ok := strings.Cut(p.GetEnd().GetEntity(), " ")
		if !ok || !strings.HasSuffix(verb, "s") || strings.Contains(r.lower, verb+" "+object) ||
			!strings.Contains(r.lower, object) || !r.sharesWord(verb) {
			continue
		}
		p.Steps, p.End = []*graphv1.RelationStep{{Relation: verb}}, entityTerm(object)
		r.because("this is a verb and its object")
	}
}

// whichForm is what stands before some things of a kind, and before no name.
var whichForm = regexp.MustCompile(`^(?:which|what) $`)

// describeNamed makes a kind of a name that is an ordinary word before the kind, among names in
// capitals: the comedy in "which comedy films did Mara Vell direct".
func (r *repairer) describeNamed() {
	for i, c := range r.plan.GetClauses() {
		v, names := c.GetValues().GetVariable(), c.GetValues().GetEntities()
		kind := kindOf(v)
		if len(names) != 1 || r.lower == r.question || isGeneric(kind) ||
			!strings.Contains(r.question, names[0]+" "+kind) {
			continue
		}
		described := matchClause(newPattern(v, TypeRelation, entityTerm(names[0])))
		whole := names[0] + " " + kind
		switch isProper := names[0] != strings.ToLower(names[0]); {
		case isProper && !whichForm.MatchString(r.readBefore(whole)):
			continue // the name itself: "the Orla tower"
		case isProper:
			described = matchClause(newPattern(v, "in", entityTerm(names[0])))
		case strings.Contains(r.lower, "the "+whole) && !strings.Contains(r.lower, whole+"s"):
			described = valuesClause(v, []string{whole}) // the chess club of Club("chess")
		}
		r.because("the question says " + names[0] + " " + kind)
		r.plan.Clauses[i] = described
		if described.GetValues() == nil && !r.isOfKind(v, kind) {
			r.plan.Clauses = slices.Insert(r.plan.Clauses, i,
				matchClause(newPattern(v, TypeRelation, entityTerm(kind))))
		}
		return
	}
}

// bestOfKindAsked is "who is the youngest astronaut".
var bestOfKindAsked = regexp.MustCompile(`^who (?:is|was) the (?:most )?\p{L}{3,} (\p{L}+)\W*$`)

// askKind asks for the things of the kind that the question asks for, where the draft asks for an attribute of these:
// "which actors play in musicals" of Actor().get("plays in musicals"). Who is no time.
func (r *repairer) askKind() {
	root, result := r.root(), r.plan.GetResult()
	fact, kinds := factOf(r.plan, result.GetVariable()), kgtext.AskedKinds(r.question)
	isUsed := slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		return c.GetMatch() != fact && slices.Contains(kgtext.ClauseVariables(c), result.GetVariable())
	})
	function := result.GetFunction()
	addsUnasked := (function == graphv1.QueryFunction_QUERY_FUNCTION_SUM ||
		function == graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE) &&
		!sumQuestion.MatchString(r.question) && !meanQuestion.MatchString(r.question)
	isList := function == graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED || addsUnasked ||
		function == graphv1.QueryFunction_QUERY_FUNCTION_COUNT && !countQuestion.MatchString(r.question)
	if root == result.GetVariable() || !isList || kgtext.IsListed(r.plan, root) || isUsed {
		return
	}
	phrase := kgtext.DescribeRelation(fact)
	if best := bestOfKindAsked.FindStringSubmatch(r.lower); best != nil && best[1] == phrase {
		fact.Steps, fact.End = []*graphv1.RelationStep{{Relation: TypeRelation}}, entityTerm(phrase)
		result.Variable = root
		r.because("the question asks for the " + phrase)
		return
	}
	asksKind := len(kinds) > 0 && (kgtext.SameNoun(kinds[0], kindOf(root)) ||
		kgtext.SameNoun(kinds[1], r.modifierOf(kindOf(root))+" "+kindOf(root))) &&
		// not of "which club colours"
		(addsUnasked || strings.Contains(phrase, " ") || !kgtext.SameNoun(kinds[0]+" "+phrase, kinds[1]))
	if m := namedKind.FindStringSubmatch(r.question); m != nil && kgtext.SameNoun(m[2], kindOf(root)) {
		asksKind = asksKind || slices.Contains(kgtext.ThingNames(r.plan), m[1])
	}
	if !asksKind && !(kgtext.AsksWho(r.question) && looksLikeTime(phrase)) {
		return
	}
	m := lastName.FindStringSubmatch(r.lower)
	if asksKind && m != nil && m[2] == phrase && !lightVerb.MatchString(m[1]) {
		fact.Steps, fact.End = []*graphv1.RelationStep{{Relation: m[1]}}, entityTerm(phrase)
	} else if isCondition := asksKind && strings.Contains(phrase, " ") && r.sharesWord(phrase); !isCondition {
		r.plan.Clauses = slices.DeleteFunc(r.plan.GetClauses(),
			func(c *graphv1.QueryClause) bool { return c.GetMatch() == fact })
	}
	result.Variable, result.Function = root, graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
	r.because("the question asks for the " + kindOf(root))
}

// namedKind begins "which Year 11 students are".
var namedKind = regexp.MustCompile(`^(?:[Ww]hich|[Ww]hat) (` + properName + `) (\p{Ll}+)\b`)

// lastName is what a question ends with behind a verb: "which closed tickets affect the web client".
var lastName = regexp.MustCompile(`^(?:which|what) .*\b(\p{L}{3,}(?: (?:by|in|on|for|from|to|with|at))?) the ` +
	`((?:\p{L}+ ){0,2}\p{L}+)\W*$`)

// placeKind is "in which data centre is A".
var placeKind = regexp.MustCompile(`(?i)^in (?:which|what) ((?:\p{L}+ )?\p{L}+) (?:is|are|was|were) `)

// askPlaceKind asks for a place of the kind that the question asks for, where the draft takes what is there for one:
// Datacentre("A").get("location").
func (r *repairer) askPlaceKind() {
	m, result := placeKind.FindStringSubmatch(r.question), r.plan.GetResult()
	fact := factOf(r.plan, result.GetVariable())
	joined := func(words string) string { return strings.ReplaceAll(strings.ToLower(words), " ", "") }
	if root := fact.GetStart().GetVariable(); m != nil && kgtext.IsListed(r.plan, root) &&
		joined(kindOf(root)) == joined(m[1]) && !kgtext.SharesWord(kgtext.DescribeRelation(fact), m[1]) {
		r.insert(len(r.plan.GetClauses()), "the question asks for the "+m[1],
			matchClause(newPattern(result.GetVariable(), TypeRelation, entityTerm(strings.ToLower(m[1])))))
	}
}

// stateAsked is "which orders are open", "how many books are in stock".
var stateAsked = regexp.MustCompile(`^(?i:how many|which|what) (?:\p{Ll}+ )?\p{Ll}+s (?:are|were) ` +
	`((?:in|on|for) (?:stock|use|sale|loan|rent)|\p{Ll}{3,})\W*$`)

// addState says of the things that are asked for what the question says that they are, where the draft has no word of
// it: "how many books are available" of Book().count().
func (r *repairer) addState() {
	m, root := stateAsked.FindStringSubmatch(r.question), r.root()
	if m == nil || m[1] == "there" || len(kgtext.NewOpenWords(m[1])) == 0 || kgtext.IsListed(r.plan, root) ||
		kgtext.SharedWords(m[1], strings.Join(kgtext.DescribePlan(r.plan), " ")) > 0 {
		return
	}
	r.plan.Clauses = slices.DeleteFunc(slices.Clone(r.plan.Clauses), func(c *graphv1.QueryClause) bool {
		isInvented := typeOf(c) != "" && c.GetMatch().GetStart().GetVariable() == root && !r.sharesWord(typeOf(c)) &&
			!kgtext.SameNoun(typeOf(c), kindOf(root))
		if isInvented {
			r.because("the question says " + m[1])
		}
		return isInvented
	})
	r.insert(len(r.plan.GetClauses()), "the question asks for what is "+m[1],
		matchClause(newPattern(root, TypeRelation, entityTerm(m[1]))))
}

// countOwn counts what the things that are asked for have, where the plan counts the things by it:
// "which artist plays the most instruments".
func (r *repairer) countOwn() {
	m := mostThings.FindStringSubmatch(r.question)
	if m == nil {
		return
	}
	for _, c := range r.plan.GetClauses() {
		rank := c.GetRank()
		owner := rank.GetVariable()
		if !rank.GetCount() || !kgtext.SameNoun(m[1], kindOf(owner)) ||
			r.ownerOf(rank.GetGroupBy()) != owner || r.plan.GetResult().GetVariable() != rank.GetGroupBy() ||
			!strings.Contains(r.phraseOf(rank.GetGroupBy()), strings.ToLower(m[2])) {
			continue
		}
		rank.Variable, rank.GroupBy = rank.GetGroupBy(), owner
		r.plan.Result.Variable = owner
		r.because("the question asks which " + m[1])
		return
	}
}

// askOfSeveral asks for an attribute of several named things that the plan takes for their kind: of
// Age("A", "B") the age of both.
func (r *repairer) askOfSeveral() {
	result := r.plan.GetResult()
	for _, c := range r.plan.GetClauses() {
		v, kind := c.GetValues().GetVariable(), kindOf(c.GetValues().GetVariable())
		if v == "" || v != result.GetVariable() || len(c.GetValues().GetEntities()) < 2 || isGeneric(kind) ||
			!strings.Contains(r.lower, kind+" of ") || len(r.plan.GetClauses()) > 1 {
			continue
		}
		attribute := r.newVariable(kind)
		r.insert(1, "the question asks for the "+kind, matchClause(newPattern(v, kind, variableTerm(attribute))))
		result.Variable = attribute
		return
	}
}

// countedOf is "how many genres does A have".
var countedOf = regexp.MustCompile(`^(?i:how many)\s+(\p{Ll}[\p{Ll}\s-]*?)\s+(?:does|do|did)\s+(?:the\s+)?(` +
	properName + `(?:\s+\p{Ll}+){0,2}?)\s+(?:have|contain|play|speak|use)\s*\?*$`)

// countedAt is "how many people work at A".
var countedAt = regexp.MustCompile(`^(?i:how many)\s+(\p{Ll}+\s+\p{Ll}+)\s+(?:at|for|in|on)\s+(?:the\s+)?(` +
	properName + `)\s*\?*$`)

// countedDone is "how many people attended A", before the name.
var countedDone = regexp.MustCompile(`^how many (\p{Ll}+ \p{Ll}+) (?:the )?$`)

// auxiliaryEnd ends what somebody else does: "how many guests has A interviewed".
var auxiliaryEnd = regexp.MustCompile(` (?:has|have|had|is|are|was|were|did|does|do)$`)

// findDone returns what things do to the only name of a plan, where the question counts these things, and that name,
// behind the place of a whole match; nil if it does not.
func (r *repairer) findDone() []string {
	names := r.plan.GetClauses()[0].GetValues().GetEntities()
	if len(names) != 1 {
		return nil
	}
	before, _, _ := strings.Cut(r.lower, strings.ToLower(names[0]))
	m := countedDone.FindStringSubmatch(before)
	if m == nil || auxiliaryEnd.MatchString(m[1]) {
		return nil
	}
	return []string{r.question, m[1], names[0]}
}

// countOfNamed counts what a name has, where the draft counts the name or does not have it: "how many genres does A
// have".
func (r *repairer) countOfNamed() {
	countsName := kgtext.IsListed(r.plan, r.plan.GetResult().GetVariable())
	m := countedOf.FindStringSubmatch(r.question)
	if m == nil && countsName {
		m = countedAt.FindStringSubmatch(r.question)
	}
	if m == nil && countsName {
		m = r.findDone()
	}
	if m == nil {
		return
	}
	isNamed := func(name string) bool { return kgtext.Mentions(m[2], kgtext.Fold(name)) }
	if !countsName && slices.ContainsFunc(kgtext.ThingNames(r.plan), isNamed) {
		return
	}
	b := newBuilder()
	if kind, isThere := strings.CutSuffix(m[1], " are"); isThere { // "how many employees are in A"
		b.plan.Result.Variable = b.variable(kgtext.Singular(kind))
		b.pattern(b.plan.Result.Variable, TypeRelation, entityTerm(kgtext.Singular(kind)), false)
		b.pattern(b.plan.Result.Variable, "in", entityTerm(clean(m[2])), false)
	} else {
		v := b.variable("thing")
		b.add(valuesClause(v, []string{clean(m[2])}))
		b.plan.Result.Variable = b.attribute(v, m[1])
	}
	b.plan.Result.Function = graphv1.QueryFunction_QUERY_FUNCTION_COUNT
	r.replan(b, "the question counts what "+m[2]+" has")
}

// kindCounted is "how many towns are there".
var kindCounted = regexp.MustCompile(`^[Hh]ow many (\p{Ll}+s) (?:are|were) there\W*$`)

// countKind counts or asks for what is of a kind that the draft takes for a name: "how many musicals are there" of
// Thing("musical").count(), "who are the physicists".
func (r *repairer) countKind() {
	result, c := r.plan.GetResult(), r.plan.GetClauses()[0]
	if m := kindCounted.FindStringSubmatch(r.question); m != nil && len(r.plan.GetClauses()) == 1 &&
		(typeOf(c) == "count" || typeOf(c) == "number") {
		c.GetMatch().End = entityTerm(kgtext.Singular(m[1])) // Count() of "how many towns are there"
		r.because("these are counted")
		return
	}
	if m := kindCounted.FindStringSubmatch(r.question); m != nil && len(r.plan.GetClauses()) == 1 && typeOf(c) != "" &&
		!kgtext.SameNoun(m[1], typeOf(c)) && m[1] != "movies" {
		r.insert(1, "the question counts "+m[1], matchClause(newPattern(c.GetMatch().GetStart().GetVariable(),
			TypeRelation, entityTerm(kgtext.Singular(m[1])))))
		return
	}
	names := c.GetValues().GetEntities()
	if len(r.plan.GetClauses()) > 1 || len(names) != 1 {
		return
	}
	kind := strings.ToLower(names[0]) // as the question has it, unlike a name: "how many crime books" of Book("Crime")
	m := membersAsked.FindStringSubmatch(r.question)
	isMembers := m != nil && kgtext.SameNoun(m[1], kind)
	counts := result.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_COUNT &&
		strings.HasPrefix(r.lower, "how many "+kind) && strings.Contains(r.question, kind)
	if !counts && !isMembers {
		return
	}
	c.Clause = matchClause(newPattern(result.GetVariable(), TypeRelation, entityTerm(kind))).GetClause()
	r.because("the question asks for a kind")
}

// membersAsked is "who are the physicists".
var membersAsked = regexp.MustCompile(`^(?:[Ww]ho|[Ww]hich|[Ww]hat) (?:are|were) the ((?:\p{Ll}+ )?\p{Ll}+s)\W*$`)

// allForm is "in all", which takes two things together.
var allForm = regexp.MustCompile(`(?i)\b(?:in all|in total|altogether|combined|taken together)\b`)

// uniteAll takes two facts together that the plan wants of the same thing, where the question counts
// over both: "how many bridges cross A and B in all".
func (r *repairer) uniteAll() {
	if !allForm.MatchString(r.question) {
		return
	}
	var first *graphv1.QueryPattern
	for i, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		if p.GetEnd().GetEntity() == "" || typeOf(c) != "" {
			continue
		}
		if first == nil || first.GetStart().GetVariable() != p.GetStart().GetVariable() ||
			!kgtext.SharesWord(first.GetSteps()[0].GetRelation(), p.GetSteps()[0].GetRelation()) {
			first = p
			continue
		}
		v := r.newVariable("either")
		either := valuesClause(v, []string{first.GetEnd().GetEntity(), p.GetEnd().GetEntity()})
		first.End = variableTerm(v)
		r.plan.Clauses = slices.Insert(slices.Delete(r.plan.GetClauses(), i, i+1), 0, either)
		r.because("the question takes both together")
		return
	}
}

// timesForm is "how many times", which counts things and not what they have.
var timesForm = regexp.MustCompile(`(?i)\b(?:how many|number of) times\b|\bhow often\b`)

// countTimes counts the things of an attribute that the plan counts, where the question asks how often.
func (r *repairer) countTimes() {
	result := r.plan.GetResult()
	if result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_COUNT &&
		r.phraseOf(result.GetVariable()) != "frequency" || !timesForm.MatchString(r.question) {
		return
	}
	for i, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		if p.GetEnd().GetVariable() != result.GetVariable() || p.GetStart().GetVariable() == "" ||
			len(r.plan.GetClauses()) < 2 || r.binds(result.GetVariable(), p) ||
			kgtext.IsListed(r.plan, p.GetStart().GetVariable()) {
			continue
		}
		r.because("the question asks how many times")
		result.Variable = p.GetStart().GetVariable()
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_COUNT
		r.plan.Clauses = slices.Delete(r.plan.Clauses, i, i+1)
		return
	}
}
