package check

import (
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// atlas is a knowledge graph of names, each with the relations that have it as their object, and its own, of which
// some have an object: "release year | 1998".
type atlas struct {
	retrieverv1.RetrieverServiceClient
	takes, has map[string][]string
}

func (a atlas) LinkEntities(_ context.Context, req *retrieverv1.LinkEntitiesRequest,
	_ ...grpc.CallOption) (*retrieverv1.LinkEntitiesResponse, error) {
	resp := &retrieverv1.LinkEntitiesResponse{}
	for name := range a.takes {
		if strings.Contains(req.GetText(), name) {
			resp.Links = append(resp.Links, &graphv1.EntityLink{Entity: name, Mention: name})
		}
	}
	return resp, nil
}

func (a atlas) ListNeighbours(_ context.Context, req *retrieverv1.ListNeighboursRequest,
	_ ...grpc.CallOption) (*retrieverv1.ListNeighboursResponse, error) {
	resp, isInverse, relations := &retrieverv1.ListNeighboursResponse{}, true, a.takes
	if req.GetDirection() == retrieverv1.Direction_DIRECTION_OUT {
		isInverse, relations = false, a.has
	}
	for _, line := range relations[req.GetEntity()] {
		r, object, _ := strings.Cut(line, " | ")
		resp.Relations = append(resp.Relations, &retrieverv1.RelationCount{Relation: r, Inverse: isInverse})
		resp.Triples = append(resp.Triples, &graphv1.Triple{Relation: r, Object: object})
	}
	return resp, nil
}

var knownPlaces = atlas{takes: map[string][]string{"1998": nil, "piano": nil, "Reik": nil,
	"1101 Clematis": nil, "Acme Sauce": nil,
	"Globex": {"employer"}, "Casa Lume": nil, "Tessen": {"region", "place of birth"},
	"Orlanda": {"place of origin", "country", "place of birth", "nationality"}},
	has: map[string][]string{"Acme Sauce": {"country", "release_year | 1987"},
		"Reik": {"nationality", "date of birth | 1950"}, "Globex": {"opened | 1990", "closed | 1998"},
		"Casa Lume": {"instance of | restaurant", "pool | no", "pets allowed | yes", "cuisine | Italian"}}}

// completeClaims completes the claims of a sentence, each "subject | relation | object" in words of it.
func completeClaims(t testing.TB, a atlas, sentence string, lines []string) []string {
	t.Helper()
	s := kgtext.Sentence{Text: sentence, Start: 7, End: 7 + utf8.RuneCountInString(sentence)}
	var claims []*generatorv1.ExtractedClaim
	for _, line := range lines {
		parts := strings.Split(line, " | ")
		at := func(name string) *graphv1.TextSpan {
			if i := strings.Index(sentence, name); i >= 0 && name != "" {
				return spanOf(s, mention{name, i, i + len(name)})
			}
			return nil
		}
		claims = append(claims, &generatorv1.ExtractedClaim{SubjectSpan: at(parts[0]), ObjectSpan: at(parts[2]),
			Triple: &graphv1.Triple{Subject: parts[0], Relation: parts[1], Object: parts[2]}})
	}
	q := question.New(&orchestratorv1.AskRequest{}, &orchestratorv1.Run{}, noop.NewTracerProvider().Tracer(""), nil)
	added, err := New(method.Stages{Retriever: a}).complete(t.Context(), q, s, "Erik", claims)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range append(claims, added...) {
		if at := c.GetObjectSpan(); at != nil && (at.GetStart() < 7 || at.GetEnd() > uint32(s.End) ||
			at.GetStart() >= at.GetEnd()) {
			t.Errorf("%v has its object outside of %q", c, sentence)
		}
		all = append(all, c.GetTriple().GetSubject()+" | "+c.GetTriple().GetRelation()+" | "+c.GetTriple().GetObject())
	}
	return all
}

func TestWhatIsDeniedOfASubjectIsSaidToBe(t *testing.T) {
	for text, want := range map[string]bool{
		"Casa Lume has a pool.": false, "Casa Lume has no pool.": true, "Casa Lume is no bar, but has a pool.": false,
		"Casa Lume doesn't have a pool.": true, "In Casa Lume pets are allowed.": false,
		"In Casa Lume pets are not allowed.": true,
	} {
		t.Run(text, func(t *testing.T) {
			s, at := kgtext.Sentence{Text: text, End: utf8.RuneCountInString(text)}, strings.Index(text, "Casa Lume")
			q := question.New(&orchestratorv1.AskRequest{}, &orchestratorv1.Run{},
				noop.NewTracerProvider().Tracer(""), nil)
			claims, err := New(method.Stages{Retriever: knownPlaces}).sayFlags(t.Context(), q, s,
				[]mention{{"Casa Lume", at, at + len("Casa Lume")}}, "", nil)
			if err != nil || len(claims) != 1 || claims[0].GetNegated() != want {
				t.Errorf("got %v, %v; want it denied: %v", claims, err, want)
			}
		})
	}
}

func TestWhatNoClaimIsAboutIsClaimedToo(t *testing.T) {
	for _, c := range []struct {
		name, sentence string
		claims, want   []string
	}{
		{"a number with the words around it", "Reik moved in 1998 and has 3 harps.",
			[]string{"Reik | moved | 1998"}, []string{"Reik | moved | 1998", "Reik | and has harps | 3"}},
		{"a name of the graph", "Reik joined Globex last.", nil, []string{"Reik | joined | Globex"}},
		{"past a word that is a name too", "Reik moved piano in 1998.", nil, []string{"Reik | moved piano in | 1998"}},
		{"of what a clause describes", "Reik met Globex which left Tessen.", []string{"Reik | met | Globex"},
			[]string{"Reik | met | Globex", "Globex | which left | Tessen"}},
		{"not what is denied", "Reik never joined Globex.", nil, nil},
		{"nor labels and footnotes", "Reik left in May [3] and RS-3.", nil, nil},
		{"nor a name without a verb or noun", "Reik in Globex.", nil, nil},
		{"of what a place is described by", "Reik met Globex, where 3 harps stand.", []string{"Reik | met | Globex"},
			[]string{"Reik | met | Globex", "Globex | where harps stand | 3"}},
		{"what is in a place, by its name", "Reik owns a shop in Tessen called Globex.",
			[]string{"Reik | owns | Globex", "Reik | location | Tessen"},
			[]string{"Reik | owns | Globex", "Reik | location | Tessen", "Globex | location | Tessen"}},
		{"unless that is claimed", "Reik owns a shop in Tessen called Globex.",
			[]string{"Reik | owns | Globex", "Globex | located in | Tessen"},
			[]string{"Reik | owns | Globex", "Globex | located in | Tessen"}},
		{"not who is called so there", "Reik, in Tessen called Globex, left.", []string{"Reik | left | Tessen"},
			[]string{"Reik | left | Tessen", "Reik | called | Globex"}},
		{"the year of a thing", "Acme Sauce, a sauce from 1998, is sour.", []string{"Acme Sauce | is | sour"},
			[]string{"Acme Sauce | is | sour", "Acme Sauce | release year | 1998"}},
		{"before what it is", "Acme Sauce is a 1998 sauce.", []string{"Acme Sauce | is a | sauce"},
			[]string{"Acme Sauce | is a | sauce", "Acme Sauce | release year | 1998"}},
		{"and in brackets", "Reik likes Acme Sauce (1998).", []string{"Reik | likes | Acme Sauce"},
			[]string{"Reik | likes | Acme Sauce", "Acme Sauce | release year | 1998"}},
		{"that the model took for a part of the name", "Acme Sauce (1998) is sour.",
			[]string{"Acme Sauce (1998) | is | sour"},
			[]string{"Acme Sauce (1998) | is | sour", "Acme Sauce | release year | 1998"}},
		{"but has not claimed", "Acme Sauce (1998) is sour.", []string{"Acme Sauce | made | 1998"},
			[]string{"Acme Sauce | made | 1998"}},
		{"nor what is denied", "Acme Sauce is not a 1998 sauce.", []string{"Acme Sauce | is a | sauce"},
			[]string{"Acme Sauce | is a | sauce"}},
		{"nor how many of something it has", "Acme Sauce has a 1998 seat factory.",
			[]string{"Acme Sauce | has | factory"},
			[]string{"Acme Sauce | has | factory", "Acme Sauce | has a seat factory | 1998"}},
		{"not of a person", "Reik (1998) likes Acme Sauce.", []string{"Reik | likes | Acme Sauce"},
			[]string{"Reik | likes | Acme Sauce"}},
		{"nor of what has several", "Globex (1998) has Acme Sauce.", []string{"Globex | has | Acme Sauce"},
			[]string{"Globex | has | Acme Sauce"}},
		{"the whole of a name whose part is the subject", "1101 Clematis turns.", []string{"Clematis | does | turns"},
			[]string{"1101 Clematis | does | turns"}},
		{"each place of several", "Reik was born in Tessen, Orlanda.",
			[]string{"Reik | place of birth | Tessen, Orlanda"},
			[]string{"Reik | place of birth | Tessen", "Reik | place of birth | Orlanda"}},
		{"the country that something comes from", "Acme Sauce is from the Tessen region of Orlanda.",
			[]string{"Acme Sauce | origin | Tessen region of Orlanda"},
			[]string{"Acme Sauce | origin | Tessen region", "Acme Sauce | country | Orlanda"}},
		{"without a region too", "Acme Sauce comes from Orlanda.", []string{"Acme Sauce | origin | Orlanda"},
			[]string{"Acme Sauce | country | Orlanda"}},
		{"or by the relation that the subject has", "Acme Sauce has its origins in Orlanda.",
			[]string{"Acme Sauce | place of origin | Orlanda"}, []string{"Acme Sauce | country | Orlanda"}},
		{"of those that say so", "Reik has his origins in Orlanda.",
			[]string{"Reik | place of origin | Orlanda"}, []string{"Reik | place of origin | Orlanda"}},
		{"and what it was taken to be", "Acme Sauce is part of Orlanda.",
			[]string{"Acme Sauce | instance of | Orlanda"}, []string{"Acme Sauce | country | Orlanda"}},
		{"of a person too", "Reik is from the Tessen region of Orlanda.",
			[]string{"Reik | country | Tessen region of Orlanda"},
			[]string{"Reik | country | Tessen region", "Reik | nationality | Orlanda"}},
		{"in what something is", "Acme Sauce is located in Orlanda.", []string{"Acme Sauce | location | Orlanda"},
			[]string{"Acme Sauce | country | Orlanda"}},
		{"in what the place of another claim is", "Acme Sauce is found in Tessen, Orlanda.",
			[]string{"Acme Sauce | location | Tessen"},
			[]string{"Acme Sauce | location | Tessen", "Acme Sauce | country | Orlanda"}},
		{"what something is, where that is no place", "Acme Sauce is a Globex.",
			[]string{"Acme Sauce | instance of | Globex"}, []string{"Acme Sauce | instance of | Globex"}},
		{"where a thing is, by its name", "Globex in Tessen hired Reik.", []string{"Globex | employs | Reik"},
			[]string{"Globex | employs | Reik", "Globex | location | Tessen"}},
		{"and where the model took that for a part of it", "Reik joined Globex in Tessen.",
			[]string{"Reik | employer | Globex in Tessen"},
			[]string{"Reik | employer | Globex", "Globex | location | Tessen"}},
		{"where somebody was born, and in what that is", "Globex in Tessen is the birthplace of Reik.",
			[]string{"Globex in Tessen | birthplace of | Reik"},
			[]string{"Globex | birthplace of | Reik", "Tessen | birthplace of | Reik", "Globex | location | Tessen"}},
		{"each thing of a list", "Reik joined Globex, Acme Sauce and Brisk.",
			[]string{"Reik | employer | Globex, Acme Sauce and Brisk"},
			[]string{"Reik | employer | Globex", "Reik | employer | Acme Sauce", "Reik | employer | Brisk"}},
		{"and of one that the model joined otherwise", "Reik joined Globex and Acme Sauce.",
			[]string{"Reik | employer | Globex, Acme Sauce"},
			[]string{"Reik | employer | Globex", "Reik | employer | Acme Sauce"}},
		{"and of commas alone", "Reik joined Globex, Acme Sauce.", []string{"Reik | employer | Globex, Acme Sauce"},
			[]string{"Reik | employer | Globex", "Reik | employer | Acme Sauce"}},
		{"of names that the graph does not have", "Reik joined Velmora and Brisk.",
			[]string{"Reik | employer | Velmora, Brisk"},
			[]string{"Reik | employer | Velmora", "Reik | employer | Brisk"}},
		{"not of what the sentence does not spell", "Reik joined Globex and others.",
			[]string{"Reik | employer | Globex, Brisk"}, []string{"Reik | employer | Globex, Brisk"}},
		{"not of a name that has the word", "Reik joined Globex and his 3 sons.",
			[]string{"Reik | employer | Globex and his 3 sons"}, []string{"Reik | employer | Globex and his 3 sons"}},
		{"by the country that the graph does not have", "Acme Sauce comes from Portugal.",
			[]string{"Acme Sauce | origin | Portugal"}, []string{"Acme Sauce | country | Portugal"}},
		{"where something lies, by that of its country", "Acme Sauce is located in Portugal.",
			[]string{"Acme Sauce | location | Portugal"}, []string{"Acme Sauce | country | Portugal"}},
		{"how many pages something is long", "Acme Sauce is 412 pages long.",
			[]string{"Acme Sauce | length | 412 pages"},
			[]string{"Acme Sauce | number of pages | 412 pages"}},
		{"not how many metres", "Acme Sauce is 412 metres long.", []string{"Acme Sauce | length | 412 metres"},
			[]string{"Acme Sauce | length | 412 metres"}},
		{"a number in words, in digits", "Reik has five pianos.", []string{"Reik | number of pianos | five"},
			[]string{"Reik | number of pianos | 5"}},
		{"not a name", "Reik starred in Seven.", []string{"Reik | cast member of | Seven"},
			[]string{"Reik | cast member of | Seven"}},
		{"and one before what it counts", "Casa Lume is a three-star house.",
			[]string{"Casa Lume | rating | three-star"},
			[]string{"Casa Lume | rating | 3"}},
		{"a role in the words of the sentence, where the model has another", "Globex is run by Reik.",
			[]string{"Globex | owner | Reik"}, []string{"Globex | run by | Reik"}},
		{"and where the sentence says nothing of a birth", "Reik started in the youth of Globex.",
			[]string{"Reik | place of birth | Globex"}, []string{"Reik | started in the youth of | Globex"}},
		{"not of a value", "Globex is 42 m high and has 3 doors.", []string{"Globex | area | 42 m"},
			[]string{"Globex | area | 42 m", "Globex | m high and has doors | 3"}},
		{"not one that may be the same the other way round", "Reik succeeded Globex.",
			[]string{"Reik | predecessor | Globex"}, []string{"Reik | predecessor | Globex"}},
		{"an office of a thing, as the relation to that", "Reik is the head chef of Globex.",
			[]string{"Reik | position | head chef of Globex"}, []string{"Reik | head chef of | Globex"}},
		{"not one that is a name", "Reik is the Duke of Velmora.", []string{"Reik | position | Duke of Velmora"},
			[]string{"Reik | position | Duke of Velmora"}},
		{"of which sort something is, before its kind", "Casa Lume is a Greek restaurant.",
			[]string{"Casa Lume | instance of | Greek restaurant"}, []string{"Casa Lume | is | Greek"}},
		{"what the model denies of it", "Casa Lume has no pool.", []string{"Casa Lume | pool | not"},
			[]string{"Casa Lume | is | pool"}},
		{"not before another kind", "Casa Lume is a Greek winner.", []string{"Casa Lume | instance of | Greek winner"},
			[]string{"Casa Lume | instance of | Greek winner"}},
		{"what the graph says yes or no of", "Casa Lume has a pool.", nil, []string{"Casa Lume | is | pool"}},
		{"and the model took for something else", "Casa Lume has a pool.",
			[]string{"Casa Lume | instance of | has pool"},
			[]string{"Casa Lume | is | pool"}},
		{"where somebody is from, who has another country", "Reik is from Portugal.",
			[]string{"Reik | place of birth | Portugal"}, []string{"Reik | nationality | Portugal"}},
		{"unless the sentence says that they were born there", "Reik was born in Portugal.",
			[]string{"Reik | place of birth | Portugal"}, []string{"Reik | place of birth | Portugal"}},
		{"and which is one", "Acme Sauce comes from Velmora.", []string{"Acme Sauce | origin | Velmora"},
			[]string{"Acme Sauce | origin | Velmora"}},
		{"when something happened, behind where", "Reik died in Tessen on 3 May 1998.",
			[]string{"Reik | place of death | Tessen"},
			[]string{"Reik | place of death | Tessen", "Reik | date of death | 3 May 1998"}},
		{"and where, behind when", "Reik was born on 3 May 1998 in Tessen.", []string{"Reik | birth date | 3 May 1998"},
			[]string{"Reik | birth date | 3 May 1998", "Reik | place of birth | Tessen"}},
		{"not when something else was so", "Reik lives in Tessen (1998).", []string{"Reik | residence | Tessen"},
			[]string{"Reik | residence | Tessen"}},
		{"the whole of a date, whose year is a name of the graph", "Reik was born on 20 March 1998.",
			[]string{"Reik | date of birth | 1998"}, []string{"Reik | date of birth | 20 March 1998"}},
		{"the whole of a date", "Reik was born on 20 March 1930.", []string{"Reik | date of birth | 1930"},
			[]string{"Reik | date of birth | 20 March 1930"}},
		{"since when something is so", "Reik has stood since 1979.", []string{"Reik | was built | since 1979"},
			[]string{"Reik | was built | 1979"}},
		{"how rough a value is", "Globex has about 500 members.", []string{"Globex | members | 500"},
			[]string{"Globex | members | about 500"}},
		{"and a year", "Globex was founded circa 1998.", []string{"Globex | founded | 1998"},
			[]string{"Globex | founded | circa 1998"}},
		{"not what a name is about", "Reik wrote about 1101 Clematis.", []string{"Reik | wrote | 1101 Clematis"},
			[]string{"Reik | wrote | 1101 Clematis"}},
		{"how high something lies", "Tessen is located 25.0 metres above sea level.",
			[]string{"Tessen | location | 25.0 metres above sea level"},
			[]string{"Tessen | elevation above sea level | 25.0 metres above sea level"}},
		{"and of a name", "Reik likes 1101 Clematis.", []string{"Reik | likes | 1101"},
			[]string{"Reik | likes | 1101 Clematis"}},
		{"where somebody died, taken for when", "Reik died in Tessen.", []string{"Reik | date of death | Tessen"},
			[]string{"Reik | place of death | Tessen"}},
		{"and when, taken for where", "Reik died in 1998.", []string{"Reik | place of death | 1998"},
			[]string{"Reik | date of death | 1998"}},
		{"of the last subject where none is named", "A total of 1418 were made.", nil,
			[]string{"Erik | A total of were made | 1418"}},
		{"no place where there is none", "Reik was born in Brisk, Globex.",
			[]string{"Reik | place of birth | Brisk, Globex"}, []string{"Reik | place of birth | Brisk, Globex"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := completeClaims(t, knownPlaces, c.sentence, c.claims); !slices.Equal(got, c.want) {
				t.Errorf("%q claims %q, want %q", c.sentence, got, c.want)
			}
		})
	}
}

// oneClaim reads a claim off every sentence.
type oneClaim struct {
	generatorv1.GeneratorServiceClient
}

func (oneClaim) ExtractClaims(context.Context, *generatorv1.ExtractClaimsRequest,
	...grpc.CallOption) (*generatorv1.ExtractClaimsResponse, error) {
	return &generatorv1.ExtractClaimsResponse{Usage: &llmv1.Usage{Calls: 1}, Claims: []*generatorv1.ExtractedClaim{
		{Triple: &graphv1.Triple{Subject: "Reik", Relation: "employer", Object: "Globex"}}}}, nil
}

// unlinked is a retriever that cannot link entities, from the second call on.
type unlinked struct {
	atlas
	calls *int
}

func (u unlinked) LinkEntities(ctx context.Context, req *retrieverv1.LinkEntitiesRequest,
	opts ...grpc.CallOption) (*retrieverv1.LinkEntitiesResponse, error) {
	if *u.calls++; *u.calls > 1 {
		return nil, status.Error(codes.Unavailable, "down")
	}
	return u.atlas.LinkEntities(ctx, req, opts...)
}

func TestWhatWasReadBeforeTheRetrieverFailedIsKeptAndCharged(t *testing.T) {
	for _, c := range []struct {
		name         string
		calls        int
		claims, read int
	}{{"after a sentence", 0, 1, 1}, {"before any", 1, 0, 0}} {
		t.Run(c.name, func(t *testing.T) {
			run := &orchestratorv1.Run{}
			q := question.New(&orchestratorv1.AskRequest{}, run, noop.NewTracerProvider().Tracer(""), nil)
			checker := New(method.Stages{Generator: oneClaim{}, Retriever: unlinked{knownPlaces, &c.calls}})
			sentences := kgtext.SplitSentences("Reik joined Globex. Reik stayed.")
			claims, read, err := checker.readClaims(t.Context(), q, sentences, 0, 2, false)
			if err == nil || len(claims) != c.claims || read != c.read {
				t.Errorf("read %v of %d sentences, %v", claims, read, err)
			}
			if run.GetUsage().GetCalls() != 2 {
				t.Errorf("charged are %v", run.GetUsage())
			}
		})
	}
}

func FuzzComplete(f *testing.F) {
	f.Add("Reik was born in Tessen, Orlanda.", "Reik", "place of birth", "Tessen, Orlanda")
	f.Add("Kingdom of Orlanda 3.", "Kingdom", "country", "Orlanda")
	f.Add("\xff12-3 of Tessen", "\xff", "born", "of")
	f.Fuzz(func(t *testing.T, sentence, subject, relation, object string) {
		for _, part := range []string{subject, relation, object} {
			if strings.Contains(part, " | ") {
				return
			}
		}
		sentence = strings.ToValidUTF8(sentence, "")
		completeClaims(t, knownPlaces, sentence, []string{subject + " | " + relation + " | " + object})
	})
}
