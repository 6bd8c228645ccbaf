package http

// Log messages.
const (
	// logServing: the HTTP listener is open.
	logServing = "serving HTTP"
	// logRequest: one HTTP request, with its status and duration. Requests for files are logged at debug.
	logRequest = "http"
	// logHandlerPanicked: a handler failed with a bug; the caller got status 500. Do: report the stack.
	logHandlerPanicked = "HTTP handler panicked"
	// logRequestsCancelled: at shutdown requests were still running after the drain time. Do: raise the
	// drain time if callers need longer.
	logRequestsCancelled = "HTTP requests cancelled at shutdown"
)
