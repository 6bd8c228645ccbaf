package kgtext

import (
	"regexp"
	"strings"
)

// IsStatement reports whether a text states a fact instead of asking for one: "Robert Stam works at
// Google." It ends like a sentence, asks nothing, commands nothing, denies nothing and has a verb of
// a fact. Without its full stop it may be a question in few words.
func IsStatement(text string) bool {
	folded, trimmed := Fold(text), strings.TrimSpace(text)
	ends := strings.HasSuffix(trimmed, ".") || strings.HasSuffix(trimmed, "!")
	return ends && !strings.ContainsAny(text, "?？") && statesFact.MatchString(folded) &&
		!asksSomething.MatchString(folded) && !beginsCommand.MatchString(folded) && !denies.MatchString(folded)
}

// IsInstruction reports whether a text commands something else than to tell a fact: "Ignore what was
// said", "Write a poem about Velmora". Requests for a text about something are none.
func IsInstruction(text string) bool {
	folded := Fold(text)
	return commandsWork.MatchString(folded) && !asksForText.MatchString(folded)
}

// SplitQuestions returns the questions of a text that asks several at once, one after the other or
// joined by "and": "Who employed Robert Stam and where was Oliver Stone born?" It returns nil if there
// is one or none.
func SplitQuestions(text string) []string {
	var parts []string
	for _, sentence := range strings.FieldsFunc(text, func(r rune) bool { return r == '?' || r == '？' || r == '\n' }) {
		sentence = strings.TrimSpace(sentence)
		for sentence != "" {
			first, rest := sentence, ""
			m := joinsQuestions.FindStringSubmatchIndex(sentence)
			if m != nil && !(continuesClause.MatchString(sentence[m[2]:]) && hasClause.MatchString(sentence[:m[0]])) {
				first, rest = sentence[:m[0]], sentence[m[2]:]
			}
			if len(strings.Fields(first)) < minQuestionWords || !beginsQuestion.MatchString(Fold(first)) {
				if rest == "" {
					break
				}
				first, rest = sentence, ""
				if !beginsQuestion.MatchString(Fold(first)) {
					break
				}
			}
			parts = append(parts, first)
			sentence = rest
		}
	}
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// AskedSentence returns the one sentence of a text that asks, if it stands alone: the sentences around it
// are no part of the question, whatever they command. It is empty if the text is that sentence, asks
// several, refers to the rest by a pronoun, or says in the rest what is meant.
func AskedSentence(text string) string {
	asked := FindQuestion(text)
	folded := Fold(asked)
	if refersBack.MatchString(folded) ||
		len(spelledNames(asked, 1)) == 0 && len(strings.Fields(folded)) < minLowerCaseWords {
		return ""
	}
	return asked
}

// FindQuestion is AskedSentence of a text in a conversation, whose question need not stand alone.
func FindQuestion(text string) string {
	ends := questionEnd.FindAllStringIndex(text, 2)
	if len(ends) != 1 {
		return ""
	}
	before, rest := SplitSentences(text[:ends[0][0]+1]), strings.TrimSpace(text[ends[0][1]:])
	if len(before) == 0 || len(before) == 1 && rest == "" {
		return ""
	}
	asked := before[len(before)-1].Text
	if !beginsQuestion.MatchString(Fold(asked)) || narrows.MatchString(Fold(rest)) {
		return ""
	}
	return asked
}

// minLowerCaseWords is the least number of words of a question that spells no name in capitals and stands
// alone: "which is heavier? lead or iron" goes on.
const minLowerCaseWords = 5

// minQuestionWords is the least number of words of a question beside others: "when and where was she
// born" asks twice of one thing.
const minQuestionWords = 3

const (
	interrogatives = `who|whom|whose|what|which|when|where|why|how`
	auxiliaries    = `is|are|was|were|do|does|did|has|have|had|can|could|will|would|should`
)

var (
	statesFact = regexp.MustCompile(`^\S+ (?:\S+ )*?(?:is|are|was|were|has|have|had|works|worked|lives|lived|` +
		`directed|wrote|studied|married|won|founded|borders|starred|employs|employed|plays|played|died|painted|` +
		`composed|produced|invented|discovered|contains|owns|owned|speaks|attended) \S`)
	asksSomething = regexp.MustCompile(`(?:^| )(?:` + interrogatives + `)(?: |$)|^(?:` + auxiliaries + `) `)
	beginsCommand = regexp.MustCompile(`^(?:please |kindly )?(?:name|list|give|tell|show|find|get|count|compare|` +
		`describe|explain|return|provide|mention|identify|state|select|write|search|look|let|i|you|we|in|on|at|of) `)
	denies       = regexp.MustCompile(`(?:^| )(?:not|no|never|(?:is|are|was|were|does|did|has)n t)(?: |$)`)
	commandsWork = regexp.MustCompile(`^(?:please |kindly )?(?:write|compose|translate|ignore|disregard|forget|` +
		`repeat|pretend|imagine|draw|rewrite|sing|act|delete|drop|execute|generate|print|reply|respond|say) ` +
		`(?:a|an|the|all|any|your|my|me|us|this|that|these|it|everything|previous|hello|hi|only|with|in|to|` +
		`as|like|what)(?: |$)`)
	beginsQuestion = regexp.MustCompile(`^(?:and |also |but |so )?(?:(?:in|on|at|of|for|from|by|to|with) )?(?:` +
		interrogatives + `|` + auxiliaries + `) `)
	// "the man who directed it and who was born there" is one question.
	hasClause       = regexp.MustCompile(`\S (?:who|which|that) `)
	continuesClause = regexp.MustCompile(`^(?:who|which|which one) `)
	questionEnd     = regexp.MustCompile(`[?？](?:["'”’)]*(?:\s|$))`)
	refersBack      = regexp.MustCompile(`(?:^| )(?:he|she|it|they|him|her|them|his|its|their|this|that|these|those|` +
		`here|there|ones?|both|former|latter)(?: |$)`)
	narrows = regexp.MustCompile(`^(?:i mean|i am asking|that is|i e|namely|specifically|only|not|but|` +
		`in other words)(?: |$)`)
	// joinsQuestions is in lower case, since titles have such words in upper case.
	joinsQuestions = regexp.MustCompile(`,? and (?:also )?((?:(?:in|on|at|of|for|from|by|to|with) )?(?:` +
		interrogatives + `)(?: \S+)? (?:` + auxiliaries + `)\b)`)
)
