package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/llm/completion"
	"github.com/triplemesh/triplemesh/internal/llm/guard"
)

// classify says what an attempt's error means and what to do about it.
func (e *endpoint) classify(ctx, attempt context.Context, cause error, x *exchange) *Error {
	at := fmt.Sprintf("call the model at %s: ", e.name)
	if ctx.Err() != nil {
		return contextError(ctx, at+"no answer in the time given")
	}
	if errors.Is(context.Cause(attempt), errShare) {
		err := failf(ErrUnavailable, "%sno answer in its share of the time; the rest is for the other endpoints", at)
		err.hurried = true
		return err
	}
	if attempt.Err() != nil {
		return failf(ErrUnavailable, "%sno answer within %v; raise llm.timeout or look at the server", at, e.cfg.Timeout)
	}
	var (
		known  *Error
		told   *statusError
		inside *completion.Failure
		none   *completion.NoCompletion
		broken *url.Error
	)
	switch {
	case errors.As(cause, &known):
		return known
	case errors.Is(cause, errTooLarge):
		return failf(ErrUnusable, "%sthe answer is longer than %d bytes (llm.max_response_bytes)", at, e.cfg.MaxResponseBytes)
	case errors.Is(cause, errRedirect):
		err := failf(ErrRefused, "%sa redirect instead of an answer; set llm.base_url to where it leads", at)
		err.misplaced = true
		return err
	case errors.As(cause, &told):
		return e.fromStatus(at, told.code, told.failure.Kind, e.said(told.failure, x), time.Duration(told.pause))
	case errors.As(cause, &inside):
		code := inside.Status
		if code == 0 {
			code = http.StatusInternalServerError
		}
		return e.fromStatus(at, code, inside.Kind, e.said(inside, x), 0)
	case isLocal(cause):
		return &Error{kind: ErrRefused, cause: cause, what: at + e.clean(cause.Error())}
	case errors.As(cause, &none) && none.Page:
		return failf(ErrUnavailable, "%sa web page instead of JSON; check llm.base_url (most endpoints want /v1 at its end)", at).again()
	case errors.As(cause, &none):
		return failf(ErrUnavailable, "%sthe answer is not a chat completion (content type %q); check that llm.base_url is an OpenAI-compatible endpoint", at, e.clean(x.contentType)).again()
	case x.answered && (errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF)):
		return failf(ErrUnavailable, "%sthe answer broke off; look at the server", at).again()
	case errors.As(cause, &broken):
		cause = broken.Err // its text repeats the URL
	}
	return failf(ErrUnavailable, "%s%s; is it running? check llm.base_url", at, e.clean(cause.Error())).again()
}

// fromStatus turns an HTTP status and the server's words into an error.
func (e *endpoint) fromStatus(at string, code int, extra, message string, wait time.Duration) *Error {
	said := fmt.Sprintf("%s%d %s", at, code, http.StatusText(code))
	if message != "" {
		said += ": " + message
	}
	err := &Error{kind: ErrRefused, what: said, retryAfter: wait, status: code, said: strings.ToLower(message)}
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden || code == http.StatusPaymentRequired:
		err.what += "; check llm.api_key (OPENAI_API_KEY)"
		err.misplaced = true
	case code == http.StatusNotFound:
		err.what += "; check llm.model and llm.base_url (most endpoints want /v1 at its end)"
	case code == http.StatusTooManyRequests:
		err.kind = ErrRateLimited
		// An empty account does not fill up by waiting.
		err.retryable = !strings.Contains(extra+message, "insufficient_quota")
	case tooLong(err.said + extra):
		err.kind = ErrPromptTooLong
		err.what += "; ask for less or give the model a larger context"
	case code == http.StatusRequestTimeout || code >= 500:
		err.kind, err.retryable = ErrUnavailable, code != http.StatusNotImplemented
	}
	return err
}

// said are the words of a server's failure. Validators repeat the request that
// they refuse; that is for nobody's eyes.
func (e *endpoint) said(f *completion.Failure, x *exchange) string {
	if guard.Leaks(x.told, f.Message) {
		return "[the prompt]"
	}
	return e.clean(f.Message)
}

// tooLong knows the words of OpenAI, vLLM and llama-server.
func tooLong(said string) bool {
	for _, w := range []string{"context_length_exceeded", "exceed_context_size", "maximum context length", "exceeds the available context", "context size"} {
		if strings.Contains(said, w) {
			return true
		}
	}
	return false
}

// clean makes a server's words fit for an error: one short line of valid UTF-8
// without the key.
func (e *endpoint) clean(said string) string {
	if strings.HasPrefix(strings.TrimSpace(said), "<") {
		return "" // a proxy's web page
	}
	if e.own.APIKey != "" {
		said = strings.ReplaceAll(said, e.own.APIKey, "[key]")
	}
	said = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(said, "?"))
	said = strings.Join(strings.Fields(said), " ")
	const most = 300
	if len(said) > most {
		said = strings.ToValidUTF8(said[:most], "") + "…"
	}
	return said
}

// again marks an error as one that may go away.
func (e *Error) again() *Error {
	e.retryable = true
	return e
}
