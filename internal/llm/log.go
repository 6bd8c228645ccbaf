package llm

// Log messages.
const (
	// logCircuitOpened: an endpoint failed too often or asked for a pause; calls go to the
	// fallbacks until retry_after has passed and a probe succeeds. Do: check the model server at
	// endpoint.
	logCircuitOpened = "circuit opened"
	// logCircuitClosed: an endpoint answers again and takes calls. Do: nothing.
	logCircuitClosed = "circuit closed"
	// logFallback: an endpoint failed a call, which goes to the next one. Do: check the model
	// server at endpoint if it repeats.
	logFallback = "model endpoint failed, trying the next"
	// logFeatureUnsupported: a model lacks features of the API; it is called without them from now
	// on. Do: nothing, or set llm.capabilities to skip the first attempt.
	logFeatureUnsupported = "model endpoint lacks a feature, calling without it"
	// logModelThinks: a model used up the tokens of an answer by thinking; it gets reasoning_tokens more
	// from now on. Do: nothing, or lower llm.reasoning_effort if answers take too long.
	logModelThinks = "model thinks before it answers, allowing more tokens"
	// logCacheWriteFailed: an answer could not be cached; the question will cost a call again. Do:
	// free space in llm.cache.dir and check its permissions.
	logCacheWriteFailed = "cache write failed"
)
