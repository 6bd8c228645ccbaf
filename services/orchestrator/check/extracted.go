package check

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// correctClaim mends what small models get wrong of a claim that they extract, with the names that the sentence spells,
// and returns the claims that it holds beside its own: of each thing of a list, and each place.
func (c *Checker) correctClaim(ctx context.Context, q *question.Question, s kgtext.Sentence, mentions []mention,
	claim *generatorv1.ExtractedClaim) (added []*generatorv1.ExtractedClaim, err error) {
	completeSubject(s, mentions, claim)
	trimSince(claim)
	completeObject(s, mentions, claim)
	completeApproximation(s, claim)
	completeNumber(claim)
	correctKind(claim)
	correctRole(s, claim)
	correctOffice(mentions, claim)
	if err := c.correctClass(ctx, q, claim); err != nil {
		return nil, err
	}
	added = splitList(s, mentions, claim)
	places, err := c.splitPlaces(ctx, q, s, mentions, claim)
	return slices.Concat(added, places, splitAdjunct(s, mentions, claim)), err
}

// completeSubject gives a claim the whole of a name that the sentence spells, where the model left off a part:
// "Clematis" of "1101 Clematis".
func completeSubject(s kgtext.Sentence, mentions []mention, claim *generatorv1.ExtractedClaim) {
	at := claim.GetSubjectSpan()
	for _, m := range mentions {
		span := spanOf(s, m)
		if m.isName() && overlap(at, span) && covers(span, at) {
			claim.Triple.Subject, claim.SubjectSpan = m.text, span
		}
	}
}

// covers reports whether all of a span is in another one.
func covers(whole, part *graphv1.TextSpan) bool {
	return whole.GetStart() <= part.GetStart() && part.GetEnd() <= whole.GetEnd()
}

// trimSince takes the date since when something is so for a value, which it is, and no bound.
func trimSince(claim *generatorv1.ExtractedClaim) {
	const word = "since "
	date, isSince := strings.CutPrefix(claim.GetTriple().GetObject(), word)
	if at := claim.GetObjectSpan(); isSince && at != nil {
		claim.Triple.Object = date
		at.Start += uint32(len(word))
	}
}

// completeObject gives a claim the whole of a date of which the model left off the day, or of a name such as "J. P." of
// "J. P. Stam". A name with a comma is one of a place and what that lies in, of which each may be meant.
func completeObject(s kgtext.Sentence, mentions []mention, claim *generatorv1.ExtractedClaim) {
	at := claim.GetObjectSpan()
	said, isDate := kgtext.ParseDate(claim.GetTriple().GetObject())
	for _, m := range mentions {
		span := spanOf(s, m)
		if !overlap(at, span) || overlap(claim.GetSubjectSpan(), span) {
			continue
		}
		whole, ok := kgtext.ParseDate(m.text)
		isDay := isDate && ok && whole.Agrees(said) && whole.MorePreciseThan(said)
		isPart := m.isName() && covers(span, at)
		if isDay || isPart && !strings.Contains(m.text, ",") {
			claim.Triple.Object, claim.ObjectSpan = m.text, span
			return
		}
	}
}

// completeApproximation gives the value of a claim the word before it by which it is approximate.
func completeApproximation(s kgtext.Sentence, claim *generatorv1.ExtractedClaim) {
	t, at := claim.GetTriple(), claim.GetObjectSpan()
	_, isDate := kgtext.ParseDate(t.GetObject())
	_, isNumber := kgtext.ParseQuantity(t.GetObject())
	if isName := t.GetObject() != strings.ToLower(t.GetObject()); at == nil || !isDate && (!isNumber || isName) {
		return
	}
	if word := kgtext.FindApproximation(s.Text[:byteAt(s, at.GetStart())]); word != "" {
		t.Object = word + t.GetObject()
		at.Start -= uint32(utf8.RuneCountInString(word))
	}
}

// numbered is a number in words, alone or before what it counts: "five-star". With a capital it may be a name.
var numbered = regexp.MustCompile(`^(` + strings.Join(numberWords, "|") + `)(?:-\pL+)?$`)

// completeNumber writes a number in words, which is all that a claim says, in digits.
func completeNumber(claim *generatorv1.ExtractedClaim) {
	if m := numbered.FindStringSubmatch(claim.GetTriple().GetObject()); m != nil {
		claim.Triple.Object = strconv.Itoa(parseNumberWord(m[1]))
	}
}

// isBirth matches words for a birth.
var isBirth = regexp.MustCompile(`(?i)\b(?:born|birth\pL*|native)\b`)

// saysLife matches words by which a sentence may say where or when somebody was born, died or was buried.
var saysLife = regexp.MustCompile(`(?i)\b(?:born|birth\pL*|native|from|hail\pL*|comes?|dies?|died|death\pL*|dead|` +
	`deceased|passed|killed|buried|burial|grave|lies?)\b|\(`)

// correctRole gives a claim the words of the sentence for its relation where these say a role that the relation
// excludes, "is run by", which the model took for an owner, or do not say the birth or death that it took them for.
func correctRole(s kgtext.Sentence, claim *generatorv1.ExtractedClaim) {
	subject, object := claim.GetSubjectSpan(), claim.GetObjectSpan()
	_, isNumber := kgtext.ParseQuantity(claim.GetTriple().GetObject())
	if subject == nil || object == nil || subject.GetEnd() > object.GetStart() || isNumber {
		return
	}
	phrase := cutSpans(s, int(subject.GetEnd()), int(object.GetStart()))
	relation := claim.GetTriple().GetRelation()
	isRole := len(strings.Fields(phrase)) <= fewWords && kgtext.ExcludesRole(phrase, relation)
	if isRole || phrase != "" && event.MatchString(relation) && !saysLife.MatchString(s.Text) {
		claim.Triple.Relation = phrase
	}
}

var (
	// isOffice matches relations to what somebody is, ofThing an office with the thing that it is one of.
	isOffice = regexp.MustCompile(`(?i)^(?:position|occupation|job|job title|role|title|instance of|is|is an?|is the)$`)
	ofThing  = regexp.MustCompile(`^(?:the |an? )?(\pL[\pL -]*?) (?:of|at) (?:the )?(\p{Lu}.*)$`)
)

// correctOffice gives a claim that somebody is the head of something, or works as something there, the office as its
// relation to that: "head chef of Nori House". Some knowledge graphs have the two as one name.
func correctOffice(mentions []mention, claim *generatorv1.ExtractedClaim) {
	t, at := claim.GetTriple(), claim.GetObjectSpan()
	m := ofThing.FindStringSubmatch(t.GetObject())
	hasName := func(name string) bool {
		return slices.ContainsFunc(mentions, func(o mention) bool { return o.isName() && o.text == name })
	}
	if m == nil || !isOffice.MatchString(t.GetRelation()) || hasName(t.GetObject()) || !hasName(m[2]) {
		return
	}
	t.Relation, t.Object = m[1]+" of", m[2]
	if at != nil {
		at.Start = at.GetEnd() - uint32(utf8.RuneCountInString(m[2]))
	}
}

// ofClass is a name and what kind of thing has it: "Italian restaurant".
var ofClass = regexp.MustCompile(`^(\p{Lu}[\pL-]+) (\p{Ll}{3,})$`)

// correctClass cuts what something is down to the name that says of which sort, before the word for its kind: that it
// is Italian, of a restaurant.
func (c *Checker) correctClass(ctx context.Context, q *question.Question, claim *generatorv1.ExtractedClaim) error {
	t := claim.GetTriple()
	m := ofClass.FindStringSubmatch(t.GetObject())
	if m == nil || !isKind.MatchString(t.GetRelation()) {
		return nil
	}
	own, err := c.listNeighbours(ctx, q, t.GetSubject(), retrieverv1.Direction_DIRECTION_OUT, facts)
	if !slices.ContainsFunc(own.GetTriples(), func(o *graphv1.Triple) bool {
		return kgtext.IsType(o.GetRelation()) && kgtext.SameNoun(o.GetObject(), m[2])
	}) {
		return err
	}
	t.Relation, t.Object = "is", m[1]
	if at := claim.GetObjectSpan(); at != nil {
		at.End = at.GetStart() + uint32(utf8.RuneCountInString(m[1]))
	}
	return nil
}

var (
	// happens matches relations of when or where something happens once.
	happens = regexp.MustCompile(`(?i)^(date|place) of (birth|death|burial)$`)
	// measures matches relations of how long or high something is, counted a value of how many it has.
	measures = regexp.MustCompile(`(?i)^(?:length|height|size)$`)
	counted  = regexp.MustCompile(`^(?:about )?[\d.,]+ (\p{Ll}{3,}s)(?: long| high| tall)?$`)
	// lies matches relations of where a thing is, elevated a value that says how high.
	lies     = regexp.MustCompile(`(?i)\b(?:locat|situat|lies?\b)`)
	elevated = regexp.MustCompile(`(?i)^\W*\d.* (?:above (?:the )?sea level)$`)
)

// correctKind gives a claim of when something happened the relation of where it did if a place is named, and the other
// way round, one of where something lies the relation of how high if it says that, and one of how long something is
// that of how many pages it has.
func correctKind(claim *generatorv1.ExtractedClaim) {
	if t := claim.GetTriple(); measures.MatchString(t.GetRelation()) {
		q, _ := kgtext.ParseQuantity(t.GetObject())
		if m := counted.FindStringSubmatch(t.GetObject()); m != nil && !kgtext.IsUnit(q.Unit) {
			t.Relation = "number of " + m[1]
		}
	}
	if t := claim.GetTriple(); lies.MatchString(t.GetRelation()) && elevated.MatchString(t.GetObject()) {
		t.Relation = "elevation above sea level"
	}
	m := happens.FindStringSubmatch(claim.GetTriple().GetRelation())
	if m == nil {
		return
	}
	_, isDate := kgtext.ParseDate(claim.GetTriple().GetObject())
	_, isNumber := kgtext.ParseQuantity(claim.GetTriple().GetObject())
	switch isPlace := strings.EqualFold(m[1], "place"); {
	case isPlace && isDate:
		claim.Triple.Relation = "date of " + m[2]
	case !isPlace && !isDate && !isNumber:
		claim.Triple.Relation = "place of " + m[2]
	}
}

// conjunction matches what joins the things of a list.
var conjunction = regexp.MustCompile(`,? (?:and|&) (?:the )?|, (?:the )?`)

// splitList cuts the object of a claim that lists several things down to the first, and returns a claim for each of the
// others. Parts of a list are names, or what the knowledge graph has, as all are of one with commas alone, unless these
// join a place to what it lies in.
func splitList(s kgtext.Sentence, mentions []mention, claim *generatorv1.ExtractedClaim) (
	added []*generatorv1.ExtractedClaim) {
	t := claim.GetTriple()
	parts := splitObject(s, mentions, claim)
	if len(parts) < 2 {
		return nil
	}
	t.Object, claim.ObjectSpan = parts[0].text, spanOf(s, parts[0])
	for _, m := range parts[1:] {
		other := proto.CloneOf(t)
		other.Object = m.text
		added = append(added, deriveClaim(claim, other, spanOf(s, m)))
	}
	return added
}

// splitObject returns the parts of a list that is the object of a claim, none of one that is no list. Where a model
// joined them in another way than the sentence, they are found there one by one.
func splitObject(s kgtext.Sentence, mentions []mention, claim *generatorv1.ExtractedClaim) (parts []mention) {
	object, text, start := claim.GetObjectSpan(), claim.GetTriple().GetObject(), 0
	if object != nil {
		start = byteAt(s, object.GetStart())
		text = s.Text[start:byteAt(s, object.GetEnd())]
	}
	hasAnd := strings.Contains(text, " & ") || strings.Contains(text, " and ")
	isOne := slices.ContainsFunc(mentions, func(m mention) bool { return kgtext.Fold(m.text) == kgtext.Fold(text) })
	if isOne || !hasAnd && aboutPlaces.MatchString(claim.GetTriple().GetRelation()) {
		return nil
	}
	from := 0
	for _, joint := range append(conjunction.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		m := mention{text[from:joint[0]], start + from, start + joint[0]}
		known := slices.IndexFunc(mentions, func(o mention) bool {
			return o.text == m.text && (object == nil || o.start == m.start)
		})
		switch {
		case known >= 0:
			m = mentions[known]
		case m.text == "" || !m.isName() || object != nil && !hasAnd:
			return nil
		case object == nil:
			if m.start = findWords(s.Text, m.text); m.start < 0 {
				return nil
			}
			m.end = m.start + len(m.text)
		}
		parts, from = append(parts, m), joint[1]
	}
	return parts
}

// deriveClaim returns what a claim says of another object, which stands at a span.
func deriveClaim(claim *generatorv1.ExtractedClaim, t *graphv1.Triple,
	object *graphv1.TextSpan) *generatorv1.ExtractedClaim {
	return &generatorv1.ExtractedClaim{Negated: claim.GetNegated(), Span: claim.GetSpan(), Triple: t,
		SubjectSpan: claim.GetSubjectSpan(), ObjectSpan: object}
}

var (
	// adjoins matches what stands between a thing and where it is.
	adjoins = regexp.MustCompile(`^,? (?:in|at|near)(?: the)? $`)
	// bornOrDied matches relations of where somebody was born or died.
	bornOrDied = regexp.MustCompile(`(?i)\b(?:birth ?place|death ?place|place of (?:birth|death))\b`)
)

// adjoin reports whether the name before the ith mention is followed by that as the place where it is.
func adjoin(s kgtext.Sentence, mentions []mention, i int) bool {
	return i > 0 && mentions[i-1].isName() && mentions[i].isName() &&
		adjoins.MatchString(s.Text[mentions[i-1].end:mentions[i].start])
}

var (
	// ofKind ends with a kind of thing and the words that lead to where it is, called is what leads to its name.
	ofKind = regexp.MustCompile(`(?i)\b(?:an?|the) \pL+(?: \pL+)? (?:in|at|near) (?:the )?$`)
	called = regexp.MustCompile(`^,? (?:called|named) (?:the )?$`)
)

// isCalled reports whether a sentence says of a place that something there has a name: "an airbase in Tessen called".
func isCalled(text string, place, name mention) bool {
	return place.isName() && name.isName() && called.MatchString(text[place.end:name.start]) &&
		ofKind.MatchString(text[:place.start])
}

// splitAdjunct cuts names of a claim such as "the Harbour Hotel in Tessen" down to the thing, and returns a claim of
// where it is. Who is born at a place is born in what that lies in.
func splitAdjunct(s kgtext.Sentence, mentions []mention, claim *generatorv1.ExtractedClaim) (
	added []*generatorv1.ExtractedClaim) {
	for i, m := range mentions {
		if !adjoin(s, mentions, i) {
			continue
		}
		thing, place := spanOf(s, mentions[i-1]), spanOf(s, m)
		ends := func(span *graphv1.TextSpan) bool {
			return span != nil && span.GetStart() <= thing.GetStart() && span.GetEnd() == place.GetEnd() &&
				span.GetEnd() > thing.GetEnd()
		}
		switch t := claim.GetTriple(); {
		case ends(claim.GetSubjectSpan()):
			if bornOrDied.MatchString(t.GetRelation()) {
				wider := proto.CloneOf(claim)
				wider.Triple.Subject, wider.SubjectSpan = m.text, place
				added = append(added, wider)
			}
			t.Subject, claim.SubjectSpan = mentions[i-1].text, thing
		case ends(claim.GetObjectSpan()):
			t.Object, claim.ObjectSpan = mentions[i-1].text, thing
		default:
			continue
		}
		added = append(added, locate(s, mentions[i-1], m))
	}
	return added
}

// locate returns the claim that one thing of a sentence lies in the other.
func locate(s kgtext.Sentence, thing, place mention) *generatorv1.ExtractedClaim {
	at, in := spanOf(s, thing), spanOf(s, place)
	return &generatorv1.ExtractedClaim{
		Triple: &graphv1.Triple{Subject: thing.text, Relation: "location", Object: place.text},
		Span:   &graphv1.TextSpan{Start: at.GetStart(), End: in.GetEnd()}, SubjectSpan: at, ObjectSpan: in,
	}
}

// splitPlaces cuts the object of a claim about a place, such as "Tessen, Orlanda" or "the Tessen valley of
// Orlanda", down to its first place, and returns a claim for each place that it is said to lie in. The
// country that something comes from is its country.
func (c *Checker) splitPlaces(ctx context.Context, q *question.Question, s kgtext.Sentence, mentions []mention,
	claim *generatorv1.ExtractedClaim) (added []*generatorv1.ExtractedClaim, err error) {
	t := claim.GetTriple()
	comesFrom := comesFromPlace(t.GetRelation())
	if !comesFrom && !aboutPlaces.MatchString(t.GetRelation()) {
		return nil, nil
	}
	switch isCountry := kgtext.CountryOf(t.GetObject()) != ""; {
	case isCountry && comesFrom:
		_, t.Relation, err = c.placeRelation(ctx, q, t.GetSubject(), t.GetRelation(), t.GetObject())
		return nil, err
	case isCountry && isBirth.MatchString(t.GetRelation()) && !isBirth.MatchString(s.Text): // "is from Orlanda"
		own, err := c.listNeighbours(ctx, q, t.GetSubject(), retrieverv1.Direction_DIRECTION_OUT, 1)
		t.Relation = cmp.Or(ownCountry(own.GetRelations(), t.GetRelation()), t.GetRelation())
		return nil, err
	}
	for _, m := range slices.Backward(mentions) {
		span, object := spanOf(s, m), claim.GetObjectSpan()
		if span.GetEnd() != object.GetEnd() || span.GetStart() < object.GetStart() || !m.isName() {
			continue // object is nil where the sentence does not spell it
		}
		head := joinsPlaces.FindStringSubmatch(s.Text[byteAt(s, object.GetStart()):m.start])
		isWhole := span.GetStart() == object.GetStart()
		if head == nil && !(isWhole && comesFrom) {
			break
		}
		isPlace, relation, err := c.placeRelation(ctx, q, t.GetSubject(), t.GetRelation(), m.text)
		switch {
		case !isPlace || err != nil:
			return added, err
		case isWhole:
			t.Relation = relation
			return added, nil
		}
		added = append(added, deriveClaim(claim,
			&graphv1.Triple{Subject: t.GetSubject(), Relation: relation, Object: m.text}, span))
		t.Object = head[1]
		claim.ObjectSpan = &graphv1.TextSpan{Start: object.GetStart(),
			End: object.GetStart() + uint32(utf8.RuneCountInString(head[1]))}
	}
	return added, nil
}

var (
	// aboutPlaces matches relations to places, originates those of things to where they come from.
	aboutPlaces = regexp.MustCompile(`(?i)place|birth|born|death|died|locat|resid|live|headquarter|based|` +
		`hometown|city|` + originates.String())
	originates = regexp.MustCompile(`(?i)origin|comes? from|region|country`)
	// isKind matches relations to what something is, or is a part of, which models take for where it comes from.
	isKind = regexp.MustCompile(`(?i)^(?:instance of|(?:is )?(?:a )?part of|type(?: of \pL+)?|is an?)$`)
	// joinsPlaces matches a place and what stands between it and the one that it lies in.
	joinsPlaces = regexp.MustCompile(`^(.*\pL.*?)(?:,| in| of)(?: the)? $`)
)

// comesFromPlace reports whether a claim's relation may be that to the country of a thing.
func comesFromPlace(relation string) bool {
	return originates.MatchString(relation) || isKind.MatchString(relation) || lies.MatchString(relation)
}

// countryRelation reports whether a relation, in words, leads to a country or continent, and may be a claim's.
func countryRelation(words, phrase string) bool {
	return words == "country" || words == "continent" ||
		words == "nationality" && !strings.Contains(kgtext.Fold(phrase), "origin")
}

// ownCountry returns the relation by which something has its country, if it has one, and nothing by a claim's own
// relation, unless that says only where it lies.
func ownCountry(own []*retrieverv1.RelationCount, phrase string) (country string) {
	for _, r := range own {
		words := kgtext.Fold(kgtext.VerbaliseRelation(r.GetRelation()))
		switch {
		case words == kgtext.Fold(phrase) && !lies.MatchString(phrase):
			return ""
		case words != "continent" && countryRelation(words, phrase):
			country = r.GetRelation()
		}
	}
	return country
}

// placeRelation reports whether things in the knowledge graph are in a place of this name, and returns the
// relation by which a claim says so. What something comes from or lies in is told by the claim's own relation, or that
// of countries and continents: the one that the subject has, and of several the one by which most others are there.
// Of a country it is that by which the subject has one, whether or not the knowledge graph has the other.
func (c *Checker) placeRelation(ctx context.Context, q *question.Question, subject, phrase, name string) (
	isPlace bool, relation string, err error) {
	others, err := c.listNeighbours(ctx, q, name, retrieverv1.Direction_DIRECTION_IN, 1)
	if err != nil {
		return false, phrase, err
	}
	var fit []*retrieverv1.RelationCount // the claim's own first
	for _, r := range others.GetRelations() {
		words := kgtext.Fold(kgtext.VerbaliseRelation(r.GetRelation()))
		isPlace = isPlace || aboutPlaces.MatchString(words)
		switch {
		case words == kgtext.Fold(phrase):
			fit = slices.Insert(fit, 0, r)
		case countryRelation(words, phrase):
			fit = append(fit, r)
		}
	}
	isCountry := kgtext.CountryOf(name) != ""
	if !comesFromPlace(phrase) || len(fit) == 0 && !isCountry {
		return isPlace, phrase, nil
	}
	own, err := c.listNeighbours(ctx, q, subject, retrieverv1.Direction_DIRECTION_OUT, 1)
	if own == nil && err == nil {
		own, err = c.listNeighbours(ctx, q, bareName(subject), retrieverv1.Direction_DIRECTION_OUT, 1)
	}
	if country := ownCountry(own.GetRelations(), phrase); isCountry && country != "" {
		return true, country, err
	}
	has := slices.DeleteFunc(slices.Clone(fit), func(r *retrieverv1.RelationCount) bool {
		return !slices.ContainsFunc(own.GetRelations(), func(o *retrieverv1.RelationCount) bool {
			return o.GetRelation() == r.GetRelation()
		})
	})
	switch {
	case len(has) > 0:
		mostUsed := func(a, b *retrieverv1.RelationCount) int { return cmp.Compare(a.GetTriples(), b.GetTriples()) }
		return isPlace, slices.MaxFunc(has, mostUsed).GetRelation(), err
	case len(fit) > 0:
		return isPlace, fit[0].GetRelation(), err
	}
	return isPlace, phrase, err
}
