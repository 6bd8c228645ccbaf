package auth

// The log messages of this package.
const (
	// logKeyFetchFailed: the public keys of the JWT issuer could not be fetched. Cached keys are used
	// until max_stale; then tokens are refused with KEYS_UNAVAILABLE. Do: check that jwks_url answers.
	logKeyFetchFailed = "key fetch failed"
)
