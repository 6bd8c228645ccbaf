package query

import (
	"regexp"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

func timeUnit(text string) string {
	text = strings.ToLower(text)
	for _, unit := range []string{"day", "month", "year"} {
		if strings.Contains(text, unit) {
			return unit + "s"
		}
	}
	return ""
}

// functionFor returns COUNT for "number of bridges".
func (b *builder) functionFor(text string) graphv1.QueryFunction {
	if _, counts := cutCounted(text); counts {
		return graphv1.QueryFunction_QUERY_FUNCTION_COUNT
	}
	return 0
}

// rankPhrase returns what to rank by.
func rankPhrase(method, text string) string {
	if text != "" {
		return text
	}
	switch method {
	case "latest", "last", "most_recent", "newest", "earliest", "first", "oldest", "youngest":
		return "date"
	case "longest", "shortest", "highest", "lowest":
		return bestWord(method)
	}
	return "size"
}

// bestWord returns what a superlative ranks by; empty for other words.
func bestWord(word string) string {
	switch word {
	case "largest", "biggest", "smallest", "greatest", "most", "least", "fewest", "maximum", "minimum",
		"max", "min":
		return "size"
	case "longest", "shortest":
		return "length"
	case "highest", "tallest", "lowest":
		return "height"
	case "heaviest", "lightest":
		return "weight"
	case "deepest", "shallowest":
		return "depth"
	case "widest", "narrowest":
		return "width"
	case "cheapest", "priciest", "most expensive":
		return "price"
	case "fastest", "quickest", "slowest":
		return "speed"
	case "oldest", "youngest", "newest", "latest", "earliest", "most recent":
		return "date"
	}
	return ""
}

// isSuperlative reports whether a value is the best of some kind, such as "largest state", by its words.
func isSuperlative(value string) bool {
	words := strings.Fields(strings.ToLower(value))
	return len(words) == 2 && bestWord(words[0]) != "" && value == strings.ToLower(value)
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// cutOrder returns what "hired first" and "downloaded most" compare, and the word that they compare by.
func cutOrder(text string) (phrase, word string, ok bool) {
	if phrase, ok = strings.CutSuffix(text, " most recently"); ok {
		return phrase, "latest", true
	}
	at := strings.LastIndex(text, " ")
	if at < 0 {
		return "", "", false
	}
	switch word = text[at+1:]; word {
	case "first", "last", "earliest", "latest":
		return text[:at], word, true
	case "most", "least": // "downloaded most"
		return text[:at], word, strings.HasSuffix(text[:at], "ed")
	}
	return "", "", false
}

// mannerForm is "works remotely".
var mannerForm = regexp.MustCompile(`^works? (\p{L}{3,})ly$`)

// cutManner returns what somebody is who works so: remote of "works remotely".
func cutManner(phrase string) string { return mannerForm.ReplaceAllString(phrase, "$1") }

func secondWord(text string) string {
	_, rest, _ := strings.Cut(text, " ")
	return firstWord(rest)
}

// isPlaceWord reports whether a word says that a place or a whole follows.
func isPlaceWord(word string) bool {
	switch word {
	case "in", "of", "from", "through", "within":
		return true
	}
	return false
}

// flagForm begins what is so or what is had: "is open", "has pool".
var flagForm = regexp.MustCompile(`^(?:is|has|have) `)

// isNone reports whether a value says that there is none.
func isNone(value string) bool {
	return strings.EqualFold(value, "none") || strings.EqualFold(value, "null") || strings.EqualFold(value, "nil")
}

// isGrade reports whether a value is the best or the worst of whatever has it.
func isGrade(value string) bool {
	return strings.EqualFold(value, "best") || strings.EqualFold(value, "worst")
}

// isMost reports whether a superlative asks for the greatest.
func isMost(word string) bool {
	switch word {
	case "smallest", "shortest", "lowest", "oldest", "earliest", "least", "fewest", "minimum", "min", "first",
		"lightest", "shallowest", "narrowest", "cheapest", "slowest", "worst":
		return false
	}
	return true
}

// isMostBy is isMost by an attribute: what is fastest takes the least time.
func isMostBy(relation, word string) bool {
	isTime := strings.Contains(relation, "time") || strings.Contains(relation, "duration")
	return isMost(word) != (isTime && bestWord(word) == "speed")
}

// cutCounted returns what is counted in "number of bridges".
func cutCounted(text string) (string, bool) {
	for _, prefix := range []string{"number of ", "count of ", "amount of ", "total number of ", "num "} {
		if rest, ok := strings.CutPrefix(text, prefix); ok && rest != "" {
			return rest, true
		}
	}
	return text, false
}

// leadingOperator returns the comparison that a value begins with: ">=2000".
func leadingOperator(text string) string {
	for _, mark := range []string{">=", "<=", ">", "<"} {
		if strings.HasPrefix(text, mark) && strings.TrimSpace(text[len(mark):]) != "" {
			return mark
		}
	}
	lower := strings.ToLower(text)
	for _, words := range []string{"under ", "over ", "less than ", "more than ", "at least ", "at most ",
		"fewer than ",
		"above ", "below ", "before ", "after "} {
		if strings.HasPrefix(lower, words) && startsWithDigit(text[len(words):]) {
			return text[:len(words)]
		}
	}
	return ""
}

var operators = map[string]graphv1.QueryOperator{
	"=": graphv1.QueryOperator_QUERY_OPERATOR_EQUAL, "==": graphv1.QueryOperator_QUERY_OPERATOR_EQUAL,
	"is": graphv1.QueryOperator_QUERY_OPERATOR_EQUAL, "in": graphv1.QueryOperator_QUERY_OPERATOR_EQUAL,
	"contains": graphv1.QueryOperator_QUERY_OPERATOR_EQUAL, "equals": graphv1.QueryOperator_QUERY_OPERATOR_EQUAL,
	"!=": graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL, "<>": graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL,
	"not": graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL, "is not": graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL,
	"<": graphv1.QueryOperator_QUERY_OPERATOR_LESS, "before": graphv1.QueryOperator_QUERY_OPERATOR_LESS,
	"less": graphv1.QueryOperator_QUERY_OPERATOR_LESS, "under": graphv1.QueryOperator_QUERY_OPERATOR_LESS,
	"below": graphv1.QueryOperator_QUERY_OPERATOR_LESS, "until": graphv1.QueryOperator_QUERY_OPERATOR_LESS_OR_EQUAL,
	"<=": graphv1.QueryOperator_QUERY_OPERATOR_LESS_OR_EQUAL,
	">":  graphv1.QueryOperator_QUERY_OPERATOR_GREATER, "after": graphv1.QueryOperator_QUERY_OPERATOR_GREATER,
	"more": graphv1.QueryOperator_QUERY_OPERATOR_GREATER, "over": graphv1.QueryOperator_QUERY_OPERATOR_GREATER,
	"above":     graphv1.QueryOperator_QUERY_OPERATOR_GREATER,
	">=":        graphv1.QueryOperator_QUERY_OPERATOR_GREATER_OR_EQUAL,
	"less than": graphv1.QueryOperator_QUERY_OPERATOR_LESS, "fewer than": graphv1.QueryOperator_QUERY_OPERATOR_LESS,
	"more than": graphv1.QueryOperator_QUERY_OPERATOR_GREATER,
	"at least":  graphv1.QueryOperator_QUERY_OPERATOR_GREATER_OR_EQUAL,
	"at most":   graphv1.QueryOperator_QUERY_OPERATOR_LESS_OR_EQUAL,
	"since":     graphv1.QueryOperator_QUERY_OPERATOR_GREATER_OR_EQUAL,
}

func operatorOf(word string) graphv1.QueryOperator {
	return operators[strings.ToLower(strings.TrimSpace(word))]
}

func isOperatorWord(word string) bool {
	word = strings.ToLower(strings.TrimSpace(word))
	return operators[word] != 0 || word == "between" || word == "range"
}

// splitOperator takes the operator off a keyword: "established after", "length  gt".
func splitOperator(keyword string) (string, graphv1.QueryOperator) {
	words := strings.Fields(keyword)
	if len(words) == 0 {
		return keyword, 0
	}
	last := words[len(words)-1]
	if rest := len(words) - 2; rest > 0 && operators[words[rest]+" "+last] != 0 { // "won more than"
		return strings.Join(words[:rest], " "), operators[words[rest]+" "+last]
	}
	short := map[string]string{"gt": ">", "lt": "<", "gte": ">=", "lte": "<="}
	if mark, ok := short[last]; ok {
		last = mark
	} else if last == "in" || last == "is" || last == "over" || last == "under" || last == "contains" {
		return keyword, 0 // a part of the relation's name: "located in"
	}
	if op := operators[last]; op != 0 {
		return strings.Join(words[:len(words)-1], " "), op
	}
	return keyword, 0
}
