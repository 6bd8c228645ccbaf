package llm

// mostMarks is what chat templates add to a prompt, and what a provider may add
// of its own, in tokens; and what an answer may take that nobody bounds.
const mostMarks, mostAnswer = 4096, 1 << 20

// counted is what a server counted, or an estimate where it did not, or where
// its count cannot be: below nothing, or above what the texts and the limit on
// them leave room for. A budget must not be filled, nor emptied, by a lie.
func counted(req Request, resp Response) Usage {
	u := resp.Usage
	bytes := 0
	for _, m := range req.Messages {
		bytes += len(m.Content)
	}
	answer := mostAnswer
	if req.MaxTokens > 0 {
		answer = max(req.MaxTokens, len(resp.Text)) + reasoningTokens + mostMarks
	}
	absurd := u.PromptTokens < 0 || u.CompletionTokens < 0 || u.PromptTokens > bytes+mostMarks || u.CompletionTokens > answer
	if absurd || u.PromptTokens+u.CompletionTokens == 0 {
		u = estimate(req.Messages, 0)
		u.CompletionTokens = tokensIn(resp.Text)
	}
	return u
}

// estimate guesses tokens where nobody counts them.
func estimate(messages []Message, maxTokens int) Usage {
	u := Usage{CompletionTokens: maxTokens, Estimated: true}
	for _, m := range messages {
		u.PromptTokens += tokensIn(m.Content) + 4 // role and markers
	}
	return u
}

// tokensIn guesses at four bytes a token, usual for English text.
func tokensIn(text string) int { return (len(text) + 3) / 4 }
