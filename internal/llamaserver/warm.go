package llamaserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/triplemesh/triplemesh/internal/llm"
)

// idlePoll is how often a busy server is looked at.
const idlePoll = 250 * time.Millisecond

// portionSize is the number of characters of a prefix that are evaluated at a time, some hundred tokens:
// a second or two, for which a question that comes meanwhile waits.
const portionSize = 300

// warm has the server evaluate the prefixes one after another, a portion at a time, each only once no
// question is being answered.
func (s *Server) warm(ctx context.Context) {
	began, evaluated := time.Now(), 0
	for _, p := range listPortions(s.cfg.Prefixes) {
		for s.busy(ctx) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(idlePoll):
			}
		}
		n, err := s.evaluate(ctx, p)
		if err != nil {
			if ctx.Err() == nil {
				s.cfg.Log.Warn(logWarmFailed, "error", err)
			}
			return
		}
		evaluated += n
	}
	s.cfg.Log.Info(logWarmed, "prompts", len(s.cfg.Prefixes), "tokens", evaluated,
		"seconds", time.Since(began).Seconds())
}

// listPortions returns the beginnings of each prefix that end with an answer, each by a portion longer
// than the one before, of which the server has the evaluation, and the whole.
func listPortions(prefixes [][]llm.Message) [][]llm.Message {
	var portions [][]llm.Message
	for _, p := range prefixes {
		size := 0
		for i, m := range p {
			size += len(m.Content)
			if i == len(p)-1 || size >= portionSize && m.Role == llm.RoleAssistant {
				portions, size = append(portions, p[:i+1]), 0
			}
		}
	}
	return portions
}

// busy reports whether the server is answering; one that does not say is taken for idle.
func (s *Server) busy(ctx context.Context) bool {
	type slot struct {
		Processing bool `json:"is_processing"`
	}
	var slots []slot
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.root()+"/slots", nil)
	if err != nil || s.exchange(req, &slots) != nil {
		return false
	}
	return slices.ContainsFunc(slots, func(s slot) bool { return s.Processing })
}

// evaluate returns how many tokens of the messages the server had to evaluate.
func (s *Server) evaluate(ctx context.Context, messages []llm.Message) (int, error) {
	type message struct {
		Role    llm.Role `json:"role"`
		Content string   `json:"content"`
	}
	body := struct {
		Messages  []message `json:"messages"`
		MaxTokens int       `json:"max_tokens"`
	}{MaxTokens: 1}
	for _, m := range messages {
		body.Messages = append(body.Messages, message{m.Role, m.Content})
	}
	// The examples end with an answer, and a prompt with a question.
	body.Messages = append(body.Messages, message{Role: llm.RoleUser})
	b, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.BaseURL()+"/chat/completions", bytes.NewReader(b))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	var answer struct {
		Timings struct {
			Evaluated int `json:"prompt_n"`
		} `json:"timings"`
	}
	err = s.exchange(req, &answer)
	return answer.Timings.Evaluated, err
}

// exchange sends a request and decodes its answer.
func (s *Server) exchange(req *http.Request, answer any) error {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("evaluate a prompt: the server answered %s", resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}
