package llm

import (
	"errors"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/llm/completion"
	"github.com/triplemesh/triplemesh/internal/llm/guard"
)

const (
	// bytesPerToken is more than a token has on average in any script; an answer
	// that is longer than its tokens allow comes from a server that does not
	// count.
	bytesPerToken = 16
	// slack is what a short answer may be longer.
	slack = 1024
	// ending is how long the usage is waited for once an answer has ended.
	ending = time.Second / 2
)

// errEnough ends the reading of an answer that was ended here.
var errEnough = errors.New("enough of the answer")

// reading puts an answer together as its pieces come.
type reading struct {
	at    string // the endpoint, for errors
	asked string // the model asked for
	req   Request
	most  int // bytes of text, and of thoughts
	guard *guard.Guard
	end   func() // ends the exchange

	resp     Response
	choices  int
	thoughts int // bytes
	refusal  bool
	calls    strings.Builder
	ended    *time.Timer
}

func newReading(e *endpoint, req Request, model string, told guard.Told, end func()) *reading {
	most := int(e.cfg.MaxResponseBytes)
	if req.MaxTokens > 0 {
		most = min(most, req.MaxTokens*bytesPerToken+slack)
	}
	return &reading{
		at: e.name, asked: model, req: req, most: most, end: end,
		guard: guard.New(guard.Config{Most: most, Told: told, Tools: req.Schema != nil}),
	}
}

// told are the project's own words in a request.
func told(req Request) guard.Told {
	var out guard.Told
	messages := req.Messages[:len(req.Messages)-req.again]
	for i, m := range messages {
		switch {
		case m.Role == RoleSystem:
			out.Instructions = append(out.Instructions, m.Content)
		case i == len(messages)-1:
			out.Question = m.Content
		case m.Role == RoleUser:
			out.Asked = append(out.Asked, m.Content)
		case req.Schema == nil:
			out.Answered = append(out.Answered, m.Content)
		}
	}
	return out
}

func (r *reading) read(in io.Reader) (Response, error) {
	err := completion.Read(in, r.take)
	if r.ended != nil {
		r.ended.Stop()
	}
	if !errors.Is(err, errEnough) {
		show, why := r.guard.Close()
		r.tell(show)
		if why != guard.Whole {
			r.resp.FinishReason = string(why)
		}
	}
	if r.resp.Text = r.guard.Text(); r.req.Schema == nil {
		r.resp.Text = unfenced(r.resp.Text)
	}
	r.resp.Tokens = within(r.resp.Tokens, r.resp.Text)
	if !plainName(r.resp.Model) {
		r.resp.Model = r.asked
	}
	switch {
	case errors.Is(err, errEnough):
	case broken(r.resp.FinishReason):
		return r.resp, io.ErrUnexpectedEOF
	case err == nil, r.resp.FinishReason != "":
		// Once it said why it ended an answer is whole, however the stream ends.
	case errors.Is(err, completion.ErrCut):
		return r.resp, io.ErrUnexpectedEOF
	case errors.Is(err, errTooLarge) && r.resp.Text != "":
		r.resp.FinishReason = FinishLength
	default:
		return r.resp, err
	}
	return r.resp, r.check()
}

// take is the next piece.
func (r *reading) take(c completion.Chunk) error {
	if c.Model != "" {
		r.resp.Model = c.Model
	}
	if c.Usage != nil {
		r.resp.Usage = Usage{PromptTokens: int(c.Usage.Prompt), CompletionTokens: int(c.Usage.Completion)}
	}
	r.choices += c.Choices
	r.refusal = r.refusal || c.Refusal != ""
	r.thoughts += len(c.Reasoning)
	if r.calls.Len() < r.most {
		r.calls.WriteString(c.Calls)
	}
	for _, t := range c.Tokens {
		r.resp.Tokens = append(r.resp.Tokens, tokenOf(t))
	}
	show, why := r.guard.Add(c.Text)
	r.tell(show)
	if why == guard.Whole && r.thoughts > r.most+reasoningTokens*bytesPerToken {
		why = guard.Length
	}
	if why != guard.Whole {
		r.resp.FinishReason = string(why)
		return errEnough
	}
	if c.Finish != "" {
		r.resp.FinishReason = finish(c.Finish)
		if r.ended == nil {
			r.ended = time.AfterFunc(ending, r.end)
		}
	}
	return nil
}

func (r *reading) tell(text string) {
	if text != "" && r.req.Delta != nil {
		r.req.Delta(text)
	}
}

// check refuses answers that hold nothing, or nothing of an answer. Arguments of
// a tool that nobody offered are what was asked for where that was JSON.
func (r *reading) check() error {
	if r.choices == 0 {
		return failf(ErrUnavailable, "call the model at %s: the answer holds no choice; check that llm.base_url is an OpenAI-compatible endpoint", r.at).again()
	}
	calls := strings.TrimSpace(r.calls.String())
	if strings.TrimSpace(r.resp.Text) == "" && r.req.Schema != nil && calls != "" {
		r.resp.Text = calls
	}
	why := ""
	switch empty := strings.TrimSpace(r.resp.Text) == ""; {
	case r.refusal || refuses(r.resp.Text):
		why = "the model refuses to answer"
	case r.resp.FinishReason == "content_filter":
		why = "the provider's content filter withheld the answer"
	case !empty:
		return nil
	case calls != "" || r.guard.Called():
		why = "the model calls a tool instead of answering"
	case r.resp.FinishReason == FinishLeak:
		why = "the model repeats what it was told instead of answering"
	case r.resp.FinishReason == FinishRepetition:
		why = "the model says nothing, again and again"
	case r.resp.FinishReason == FinishLength:
		why = "the answer is empty: all its tokens went before the first word; raise the request's tokens or lower llm.reasoning_effort"
	default:
		why = "the answer is empty"
	}
	return failf(ErrUnusable, "call the model at %s: %s (finish reason %q)", r.at, why, r.resp.FinishReason)
}

func tokenOf(t completion.Token) Token {
	out := Token{Text: t.Text, LogProb: t.LogProb}
	for _, a := range t.Top {
		out.Top = append(out.Top, Alternative{Text: a.Text, LogProb: a.LogProb})
	}
	return out
}

// within are the tokens that a text is made of, where thoughts or marks were
// taken off it.
func within(tokens []Token, text string) []Token {
	var all strings.Builder
	for _, t := range tokens {
		all.WriteString(t.Text)
	}
	whole := all.String()
	begin := strings.LastIndex(whole, text)
	if len(whole) == len(text) || begin < 0 {
		return tokens
	}
	from, at := 0, 0
	for from < len(tokens) && at+len(tokens[from].Text) <= begin {
		at += len(tokens[from].Text)
		from++
	}
	to := from
	for to < len(tokens) && at < begin+len(text) {
		at += len(tokens[to].Text)
		to++
	}
	return tokens[from:to]
}

// plainName tells whether a server's name for a model is one.
func plainName(name string) bool {
	return name != "" && len(name) <= 128 && !strings.ContainsFunc(name, unicode.IsControl)
}
