package llm

import (
	"strings"

	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// Reasons for which an answer ended before its end. Others are as the endpoint
// names them.
const (
	// FinishLength: its tokens were used up.
	FinishLength = "length"
	// FinishRepetition: the model said the same again and again.
	FinishRepetition = "repetition"
	// FinishLeak: the model went on with what it was told.
	FinishLeak = "prompt_leak"
)

// finishes are other servers' names for the two usual reasons.
var finishes = map[string]string{
	"eos": "stop", "eos_token": "stop", "end_turn": "stop", "stop_sequence": "stop", "end_of_turn": "stop", "completed": "stop",
	"max_tokens": FinishLength, "max_output_tokens": FinishLength, "model_length": FinishLength, "truncated": FinishLength,
}

// finish is a server's reason in the usual spelling.
func finish(said string) string {
	said = strings.ToLower(strings.TrimSpace(said))
	if usual := finishes[said]; usual != "" {
		return usual
	}
	const longest = 32
	return strings.ToValidUTF8(said[:min(len(said), longest)], "")
}

// broken tells reasons that are failures: vLLM's abort, OpenRouter's error,
// DeepSeek's lack of resources.
func broken(reason string) bool {
	switch reason {
	case "abort", "aborted", "error", "cancelled", "canceled", "insufficient_system_resource":
		return true
	}
	return false
}

// Cut tells whether an answer ended before its end, so that its last line may be
// half of one.
func (r Response) Cut() bool {
	return r.FinishReason == FinishLength || r.FinishReason == FinishRepetition || r.FinishReason == FinishLeak
}

// Warnings say of an answer that ended before its end why; of others nothing.
func (r Response) Warnings() []*llmv1.Warning {
	why := map[string]string{
		FinishLength:     "the model's answer was cut at its length",
		FinishRepetition: "the model said the same again and again and was stopped",
		FinishLeak:       "the model went on with its instructions and was stopped",
	}[r.FinishReason]
	if why == "" {
		return nil
	}
	return []*llmv1.Warning{Warn(WarnTruncated, "%s; what came before was used", why)}
}
