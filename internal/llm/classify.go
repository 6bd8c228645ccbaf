package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	openai "github.com/sashabaranov/go-openai"

	"github.com/triplemesh/triplemesh/internal/llm/dialect"
	"github.com/triplemesh/triplemesh/internal/llm/guard"
)

// classify returns the error of an attempt: what it means and what to do about it.
func (e *endpoint) classify(ctx, attempt context.Context, cause error, x *exchange) *Error {
	at := fmt.Sprintf("call the model at %s: ", e.name)
	if ctx.Err() != nil {
		return contextError(ctx, at+"no answer before the deadline")
	}
	if errors.Is(context.Cause(attempt), errShareUsed) {
		err := errorf(ErrUnavailable, "%sno answer in its share of the time; the rest is for the other endpoints", at)
		err.preempted = true
		return err
	}
	if attempt.Err() != nil {
		return errorf(ErrUnavailable, "%sno answer within %v; raise llm.timeout or look at the server",
			at, e.cfg.Timeout)
	}
	var (
		classified    *Error
		reported      *openai.APIError
		notCompletion *dialect.NotCompletionError
		transport     *url.Error
	)
	switch {
	case errors.As(cause, &classified):
		return classified
	case errors.Is(cause, dialect.ErrTooLarge):
		return errorf(ErrUnusable, "%sthe answer is longer than %d bytes (llm.max_response_bytes)", at,
			e.cfg.MaxResponseBytes)
	case errors.Is(cause, errRedirect):
		err := errorf(ErrRefused, "%sa redirect instead of an answer; set llm.base_url to its target", at)
		err.misconfigured = true
		return err
	case errors.As(cause, &reported):
		return e.classifyReported(at, reported, x)
	case isLocalRefusal(cause):
		return &Error{kind: ErrRefused, cause: cause, text: at + e.sanitize(cause.Error())}
	case errors.As(cause, &notCompletion) && notCompletion.WebPage:
		return errorf(ErrUnavailable, "%sa web page instead of JSON; check llm.base_url (most endpoints want /v1 at "+
			"its end)", at).retry()
	case errors.As(cause, &notCompletion):
		return errorf(ErrUnavailable, "%sthe answer is not a chat completion (content type %q); check that "+
			"llm.base_url is an OpenAI-compatible endpoint", at, e.sanitize(x.contentType)).retry()
	case x.answered && (errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF) ||
		errors.Is(cause, dialect.ErrTruncated)):
		return errorf(ErrUnavailable, "%sthe answer broke off; look at the server", at).retry()
	case errors.As(cause, &transport):
		cause = transport.Err // its text repeats the URL
	}
	return errorf(ErrUnavailable, "%s%s; is it running? check llm.base_url", at, e.sanitize(cause.Error())).retry()
}

// classifyReported classifies an error that the server reports, with a status or in an answer.
func (e *endpoint) classifyReported(at string, reported *openai.APIError, x *exchange) *Error {
	code := cmp.Or(reported.HTTPStatusCode, http.StatusInternalServerError)
	text := fmt.Sprintf("%s%d %s", at, code, http.StatusText(code))
	message := e.sanitize(reported.Message)
	// Validators quote the request that they refuse; the prompt is not for users.
	if guard.Leaks(x.prompt, reported.Message) {
		message = "[the prompt]"
	}
	if message != "" {
		text += ": " + message
	}
	details := message + " " + reported.Type + " " + fmt.Sprint(reported.Code)
	err := &Error{kind: ErrRefused, text: text, retryAfter: x.retryAfter, status: code,
		response: strings.ToLower(message)}
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden || code == http.StatusPaymentRequired:
		err.text += "; check llm.api_key (OPENAI_API_KEY)"
		err.misconfigured = true
	case code == http.StatusNotFound:
		err.text += "; check llm.model and llm.base_url (most endpoints want /v1 at its end)"
	case code == http.StatusTooManyRequests:
		err.kind = ErrRateLimited
		// Waiting does not refill an empty account.
		err.retryable = !strings.Contains(details, "insufficient_quota")
	case isPromptTooLong(strings.ToLower(details)):
		err.kind = ErrPromptTooLong
		err.text += "; ask for less or give the model a larger context"
	case code == http.StatusRequestTimeout || code >= 500:
		err.kind, err.retryable = ErrUnavailable, code != http.StatusNotImplemented
	}
	return err
}

// isPromptTooLong recognises the messages of OpenAI, vLLM and llama-server.
func isPromptTooLong(message string) bool {
	for _, w := range []string{"context_length_exceeded", "exceed_context_size", "maximum context length",
		"exceeds the available context", "context size"} {
		if strings.Contains(message, w) {
			return true
		}
	}
	return false
}

// sanitize makes a server's message fit for an error: one short line of valid UTF-8 without the
// key.
func (e *endpoint) sanitize(message string) string {
	if strings.HasPrefix(strings.TrimSpace(message), "<") {
		return "" // a proxy's web page
	}
	if e.own.APIKey != "" {
		message = strings.ReplaceAll(message, e.own.APIKey, "[key]")
	}
	message = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(message, "?"))
	message = strings.Join(strings.Fields(message), " ")
	const maxLen = 300
	if len(message) > maxLen {
		message = strings.ToValidUTF8(message[:maxLen], "") + "…"
	}
	return message
}
