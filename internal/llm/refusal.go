package llm

import (
	"regexp"
	"strings"
)

// longestRefusal is more than a refusal has; what is longer says something.
const longestRefusal = 600

// refusal is how models decline: words that begin an answer, of which no name,
// title or sentence of facts does. A song may be called "I Can't Help Myself":
// what is declined is named with it.
var refusal = regexp.MustCompile(`(?i)^(?:` + strings.Join([]string{
	`(?:i[’']?m |i am |we[’']re )?(?:very |so |truly |really )?(?:sorry|afraid)[,.:;]?\s*(?:but |that )?(?:as an ai[^,.]*,? ?)?(?:i|we)(?: am|[’']m)?\s*(?:can(?:no|[’'])t|can not|could not|couldn[’']t|will not|won[’']t|(?:am |[’']m )?(?:unable|not able|not allowed|not permitted)|must decline|do(?:n[’']t| not) (?:have|know))`,
	`(?:unfortunately,? )?(?:i|we) (?:can(?:no|[’'])t|can not|am unable to|am not able to|will not|won[’']t|must decline to|must refuse to) (?:help (?:you )?(?:with|on)|assist|answer|comply|fulfill?|provide|discuss|engage|continue with|participate|do (?:that|this)|process (?:that|this)|respond to|share)`,
	`i[’']m (?:unable|not able) to (?:help|assist|answer|comply|fulfill?|provide|discuss|engage|respond|share)`,
	`as an? (?:ai|artificial intelligence|(?:large )?language model)\b`,
	`i (?:do not|don[’']t) (?:know\b|have (?:access to|(?:any |enough |sufficient |specific |that |the )*(?:information|data|knowledge)))`,
	`(?:lo siento|je suis désolée?|es tut mir leid|mi dispiace|desculpe|sinto muito|het spijt me)[,.]?\s*(?:pero |mais |aber |ma |mas |maar )?(?:no puedo|je ne (?:peux|suis)|(?:das |dabei )?(?:ich )?kann (?:ich )?|non posso|não posso|ik kan)`,
	`(?:抱歉|对不起|很抱歉|對不起)[，,]?\s*我?(?:不能|无法|無法)`,
	`(?:申し訳(?:ありません|ございません)|すみません)(?:が|。|、)?.{0,40}(?:できません|お手伝いできません|お答えできません)`,
	`(?:죄송하지만|죄송합니다)`,
	`(?:извините|к сожалению)[,.]?\s*(?:но )?я не (?:могу|в состоянии)`,
}, "|") + `)`)

// refuses tells whether an answer is a refusal and nothing else. One that holds
// an answer in braces, or JSON, is an answer.
func refuses(text string) bool {
	text = strings.TrimLeft(strings.TrimSpace(text), "\"'*_“ ")
	return len(text) <= longestRefusal && !strings.ContainsAny(text, "{}|") && refusal.MatchString(text)
}
