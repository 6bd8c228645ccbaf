package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	openai "github.com/sashabaranov/go-openai"
)

// classify says what an attempt's error means and what to do about it.
func (e *endpoint) classify(ctx, attempt context.Context, cause error, x *exchange) *Error {
	at := fmt.Sprintf("call the model at %s: ", e.name)
	if ctx.Err() != nil {
		return contextError(ctx, at+"no answer in the time given")
	}
	if attempt.Err() != nil {
		return failf(ErrUnavailable, "%sno answer within %v; raise llm.timeout or look at the server", at, e.cfg.Timeout)
	}
	var (
		known  *Error
		api    *openai.APIError
		plain  *openai.RequestError
		syntax *json.SyntaxError
		typ    *json.UnmarshalTypeError
		broken *url.Error
	)
	switch {
	case errors.As(cause, &known):
		return known
	case x.answered && errors.Is(cause, errTooLarge):
		return failf(ErrUnusable, "%sthe answer is longer than %d bytes (llm.max_response_bytes)", at, e.cfg.MaxResponseBytes)
	case errors.Is(cause, errHTML):
		return failf(ErrUnavailable, "%sa web page instead of JSON; check llm.base_url (most endpoints want /v1 at its end)", at).again()
	case errors.Is(cause, errRedirect):
		return failf(ErrRefused, "%sa redirect instead of an answer; set llm.base_url to where it leads", at)
	case errors.As(cause, &api):
		return e.fromStatus(at, apiStatus(api), api.Message, fmt.Sprint(api.Type, " ", api.Code), x)
	case errors.As(cause, &plain):
		return e.fromStatus(at, plain.HTTPStatusCode, string(plain.Body), "", x)
	case isLocal(cause):
		return &Error{kind: ErrRefused, cause: cause, what: at + e.clean(cause.Error())}
	case x.answered && (errors.As(cause, &syntax) || errors.As(cause, &typ)):
		return failf(ErrUnavailable, "%sthe answer is not a chat completion (content type %q); check that llm.base_url is an OpenAI-compatible endpoint", at, e.clean(x.contentType)).again()
	case x.answered && (errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF)):
		return failf(ErrUnavailable, "%sthe answer broke off; look at the server", at).again()
	case errors.As(cause, &broken):
		cause = broken.Err // its text repeats the URL
	}
	return failf(ErrUnavailable, "%s%s; is it running? check llm.base_url", at, e.clean(cause.Error())).again()
}

// apiStatus is the HTTP status of an error; one inside a stream has none and
// may bring it as its code.
func apiStatus(api *openai.APIError) int {
	if api.HTTPStatusCode != 0 {
		return api.HTTPStatusCode
	}
	if code, ok := api.Code.(int); ok && code >= 400 {
		return code
	}
	return http.StatusInternalServerError
}

// fromStatus turns an HTTP status and the server's words into an error.
func (e *endpoint) fromStatus(at string, code int, message, extra string, x *exchange) *Error {
	said := fmt.Sprintf("%s%d %s", at, code, http.StatusText(code))
	if message = e.clean(message); message != "" {
		said += ": " + message
	}
	err := &Error{kind: ErrRefused, what: said, retryAfter: x.retryAfter, status: code, said: strings.ToLower(message)}
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		err.what += "; check llm.api_key (OPENAI_API_KEY)"
	case code == http.StatusNotFound:
		err.what += "; check llm.model and llm.base_url (most endpoints want /v1 at its end)"
	case code == http.StatusTooManyRequests:
		err.kind = ErrRateLimited
		// An empty account does not fill up by waiting.
		err.retryable = !strings.Contains(extra+message, "insufficient_quota")
	case code == http.StatusRequestTimeout || code >= 500:
		err.kind, err.retryable = ErrUnavailable, code != http.StatusNotImplemented
	case tooLong(err.said + extra):
		err.kind = ErrPromptTooLong
		err.what += "; ask for less or give the model a larger context"
	}
	return err
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

// check refuses answers that hold nothing.
func check(at string, resp Response) error {
	if strings.TrimSpace(resp.Text) != "" {
		return nil
	}
	why := "the answer is empty"
	if resp.FinishReason == "length" {
		why = "the answer is empty: all its tokens went before the first word; raise the request's tokens or lower llm.reasoning_effort"
	}
	return failf(ErrUnusable, "call the model at %s: %s (finish reason %q)", at, why, resp.FinishReason)
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
