package client

// The log messages of this package.
const (
	// logCallMoved: a replica gave no sign of life, and the call is made at another one. Do: check the
	// replica if this repeats; answered_at_all is false if it never responded.
	logCallMoved = "call retried on another replica"
	// logSpansMissing: the spans that a service returned could not be decoded, so the trace lacks
	// them. Do: check that both services have the same version.
	logSpansMissing = "spans of a called service are missing"
	// logUpdated: the set of ready pods of a service changed. Do: nothing.
	logUpdated = "endpoints updated"
	// logUpdateRejected: gRPC rejected the new endpoints. Do: report it with error.
	logUpdateRejected = "endpoint update rejected"
	// logUpdateFailed: the API server cannot be watched, or no pod is ready. Do: see error; check
	// the Role of the service account.
	logUpdateFailed = "endpoint update failed, using last known endpoints"
)
