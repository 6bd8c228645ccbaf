package query

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// mostThings is "which year saw the most films": what most things have is asked for.
var mostThings = regexp.MustCompile(`(?i)\b(?:which|what)\s+(\p{L}+)\b.*\bmost\s+(?:of the\s+)?(\p{L}+s|\p{L}+craft)\b`)

// countMost makes a ranking by an attribute that the question asks for a ranking by how many have it.
func (r *repairer) countMost() {
	m := mostThings.FindStringSubmatch(r.question)
	if m == nil || beForm.MatchString(m[1]) {
		return
	}
	asked := strings.TrimSuffix(strings.ToLower(m[1]), "s")
	for _, c := range r.plan.GetClauses() {
		rank := c.GetRank()
		if rank == nil || rank.GetCount() || !strings.Contains(r.phraseOf(rank.GetVariable()), asked) {
			continue
		}
		fact := factOf(r.plan, rank.GetVariable())
		owner := fact.GetStart().GetVariable()
		if owner == "" || r.plan.GetResult().GetVariable() != owner {
			return
		}
		if looksLikeTime(asked) && !strings.HasSuffix(kgtext.DescribeRelation(fact), asked) {
			// The year of "year directed" is one that a film has, directed or not.
			fact.Steps = []*graphv1.RelationStep{{Relation: asked}}
		}
		rank.GroupBy, rank.Variable, rank.Count, rank.Descending = rank.GetVariable(), owner, true, true
		r.plan.Result.Variable = rank.GetGroupBy()
		r.because("the question asks what most have")
		return
	}
}

// mostDone is "who wrote the most comedies", "which actor was in the most films directed by A".
var mostDone = regexp.MustCompile(`^(?:[Ww]ho|(?:[Ww]hich|[Ww]hat) (\p{Ll}+)) (?:(?:has|have) )?` +
	`(\p{Ll}+(?: (?:in|for))?) (?:the )?(most|fewest) ((?:\p{Ll}+ ){0,2}(?:\p{Ll}+s|people|\p{Ll}+craft))` +
	`(?: (\p{Ll}+(?: by)?) (` + properName + `))?\W*$`)

// mostOfKind is "in which continent are the most countries", "which instrument is played by the most people", "in which
// city were most composers born".
var mostOfKind = regexp.MustCompile(`^(?:(?:[Ii]n|[Oo]n|[Aa]t|[Ff]or|[Ff]rom|[Tt]o|[Ww]ith) )?(?:[Ww]hich|[Ww]hat) ` +
	`(\p{Ll}+) (?:is|are|was|were|do|does|did) (?:(\p{Ll}+) by )?(?:the )?(most|fewest) ` +
	`((?:\p{Ll}+ )??(?:\p{Ll}+s|people|men|women|\p{Ll}+craft))(?: (\p{Ll}+)(?: in| from| to| for)?)?\W*$`)

// readMostOfKind reads which kind most things have off a question for that, where the draft does not count these
// things: "which instrument is played by the most people" of Instrument(made_by="most people").
func (r *repairer) readMostOfKind() {
	m := mostOfKind.FindStringSubmatch(r.question)
	if m == nil || r.countsEach(m[4], m[1]) {
		return
	}
	phrase := m[1]
	if verb := cmp.Or(m[2], m[5]); !lightVerb.MatchString(verb) && len(kgtext.NewOpenWords(verb)) > 0 {
		phrase += " " + verb
	}
	r.readCount(m[4], phrase, m[3], nil)
}

// countsEach reports whether the plan counts the things for each of a kind.
func (r *repairer) countsEach(things, kind string) bool {
	return slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		rank := c.GetRank()
		said, group := r.phraseOf(rank.GetVariable())+" "+kindOf(rank.GetVariable()), rank.GetGroupBy()
		return rank.GetCount() && kgtext.SharesWord(things, said) &&
			kgtext.SharesWord(kind, r.phraseOf(group)+" "+kindOf(group))
	})
}

// beenIn is a verb that says no more than the role of its subject: which actor was in.
var beenIn = regexp.MustCompile(`^(?:been|is|was|are|were|appears?|appeared) in$`)

// readMost reads who did something to most things off a question for that, where the draft ranks nothing or these
// things: "who has written the most comedies" of Comedy(written_by="writer").count().
func (r *repairer) readMost() {
	m := mostDone.FindStringSubmatch(r.question)
	if m == nil {
		return
	}
	role, phrase, things := m[1], m[2], m[4]
	ranksOther := role != "" && r.ranksOther(role)
	if m[6] != "" && len(kgtext.NewOpenWords(m[5])) == 0 || m[6] == "" && r.countsFor(things) && !ranksOther {
		return
	}
	saysNothing := lightVerb.MatchString(phrase) || ranksOther && receiveForm.MatchString(phrase) ||
		beenIn.MatchString(phrase) || len(kgtext.NewOpenWords(phrase)) == 0
	if looksLikeTime(role) || saysNothing && (ranksOther || kgtext.IsRole(role)) {
		phrase = role
	} else if saysNothing {
		return
	}
	var said *graphv1.QueryPattern
	if m[6] != "" {
		said = newPattern(counted, m[5], entityTerm(m[6]))
	}
	r.readCount(things, phrase, m[3], said)
}

// receiveForm is a verb that says no more of what has most things than that it has them.
var receiveForm = regexp.MustCompile(`^(?:receive[ds]?|gets?|got|sees?|saw|hosts?|hosted|holds?|held|contains?)$`)

// ranksOther reports whether the plan counts for each of another kind than that which it asks for: projects by the
// donor who has made the most donations, where the question asks which project has the most.
func (r *repairer) ranksOther(kind string) bool {
	return kgtext.SameNoun(kindOf(r.plan.GetResult().GetVariable()), kind) &&
		slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
			rank, asked := c.GetRank(), r.plan.GetResult().GetVariable()
			return rank.GetCount() && rank.GetOperator() == 0 && rank.GetGroupBy() != asked &&
				!kgtext.SameNoun(kindOf(rank.GetGroupBy()), kind)
		})
}

// counted is the variable of things that a plan read off a question counts.
const counted = "thing"

// readCount makes the plan one for what most or fewest things have by a phrase. said is what else these must have, if
// anything.
func (r *repairer) readCount(things, phrase, most string, said *graphv1.QueryPattern) {
	of := newBuilder().variable(phrase)
	r.plan.Clauses = []*graphv1.QueryClause{
		matchClause(newPattern(counted, TypeRelation, entityTerm(kgtext.Singular(things))))}
	if said != nil {
		r.plan.Clauses = append(r.plan.Clauses, matchClause(said))
	}
	r.plan.Clauses = append(r.plan.Clauses, matchClause(newPattern(counted, phrase, variableTerm(of))),
		rankClause(&graphv1.QueryRank{Variable: counted, Count: true, GroupBy: of, Descending: most == "most"}))
	r.plan.Result = &graphv1.QueryResult{Variable: of}
	r.because("the question counts " + things)
}

// measuredForm are things of which one value says how many there are.
var measuredForm = regexp.MustCompile(`(?i)^(?:hours|minutes|days|weeks|months|years|miles|points|votes|goals|sales)$`)

// countRanked makes a ranking by things that the question has the most of, done by somebody, one by how many there are:
// "who reported the most tickets" of Person().most("tickets reported").
func (r *repairer) countRanked() {
	m := countedNoun.FindStringSubmatch(r.question)
	if m == nil || !kgtext.AsksWho(r.question) || measuredForm.MatchString(kgtext.LastWord(m[1])) {
		return
	}
	for _, c := range r.plan.GetClauses() {
		rank := c.GetRank()
		phrase, owner := r.phraseOf(rank.GetVariable()), r.ownerOf(rank.GetVariable())
		if rank == nil || rank.GetCount() || rank.GetOperator() != 0 || owner == "" ||
			!kgtext.Mentions(phrase, kgtext.Fold(kgtext.LastWord(m[1]))) ||
			!slices.ContainsFunc(strings.Fields(phrase), kgtext.IsParticiple) {
			continue
		}
		rank.Count, rank.GroupBy = true, owner
		r.because("the question counts " + m[1])
		return
	}
}

// countsFor reports whether the plan ranks something else than the things.
func (r *repairer) countsFor(things string) bool {
	return slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool { return c.GetRank() != nil }) &&
		!kgtext.SameNoun(kindOf(r.plan.GetResult().GetVariable()), kgtext.LastWord(things))
}

// kindOfCounted says of which kind the things are that a plan counts and the question has the most of: of "who directed
// the most thrillers" the thrillers of "thrillers directed". What the question says behind that is said of these, and
// not of who did it: "the most films directed by A".
func (r *repairer) kindOfCounted() {
	at := slices.IndexFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool { return c.GetRank().GetCount() })
	if at < 0 || r.plan.GetClauses()[at].GetRank().GetOperator() != 0 {
		return
	}
	rank := r.plan.GetClauses()[at].GetRank()
	fact := factOf(r.plan, rank.GetVariable())
	group, phrase := rank.GetGroupBy(), r.phraseOf(rank.GetVariable())
	kind, verb := phrase, ""
	if i := strings.LastIndex(phrase, " "); i > 0 && kgtext.IsParticiple(phrase[i+1:]) {
		kind, verb = phrase[:i], phrase[i+1:]
	}
	_, behind, found := strings.Cut(r.lower, "most "+kind)
	if !found {
		_, behind, found = strings.Cut(r.lower, "fewest "+kind)
	}
	if !found || kind == "" || fact.GetStart().GetVariable() != group {
		return
	}
	same := r.onlyOfKind(kgtext.Singular(kind), rank.GetVariable())
	r.plan.Clauses = slices.DeleteFunc(slices.Clone(r.plan.GetClauses()), func(c *graphv1.QueryClause) bool {
		p := c.GetMatch()
		name := p.GetEnd().GetEntity()
		switch {
		case same != "" && (p.GetStart().GetVariable() == same || p.GetEnd().GetVariable() == same):
			return true // of Drama() beside "dramas written"
		case name == "" || p.GetStart().GetVariable() != group:
			return false
		case typeOf(c) != "":
			return strings.Contains(name, " ") && kgtext.SharedWords(name, phrase) == 1 // "made comedy"
		case kgtext.SameNoun(name, kind): // starred in "western"
			verb = kgtext.DescribeRelation(p)
			return true
		case kgtext.SharedWords(kgtext.DescribeRelation(p), behind) == 1:
			p.Start = fact.GetEnd()
		}
		return false
	})
	role := kindOf(group)
	if verb != "" || kgtext.IsRole(role) && !ownsMost.MatchString(r.question) {
		switch {
		case lightVerb.MatchString(verb) && kgtext.IsRole(role): // which director made
			fact.Steps, fact.Start, fact.End = []*graphv1.RelationStep{{Relation: role}}, fact.GetEnd(), fact.GetStart()
		case verb != "":
			fact.Steps = []*graphv1.RelationStep{{Relation: verb}}
		}
		i := slices.IndexFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool { return c.GetRank() == rank })
		r.plan.Clauses = slices.Insert(r.plan.GetClauses(), i, matchClause(newPattern(rank.GetVariable(), TypeRelation,
			entityTerm(kgtext.Singular(kind)))))
	}
	r.because("the question counts " + kind)
}

// ownsMost is "which actor has the most awards", whose relation is what is counted.
var ownsMost = regexp.MustCompile(`(?i)\b(?:has|have|had|plays?|played|with) (?:the )?(?:most|fewest)\b`)

// onlyOfKind returns the variable of a kind of which the plan says nothing else; empty if there is none besides one.
func (r *repairer) onlyOfKind(kind, besides string) string {
	variable := r.findVariable(kind)
	if variable == besides || slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		return c.GetMatch().GetStart().GetVariable() == variable && typeOf(c) == ""
	}) {
		return ""
	}
	return variable
}
