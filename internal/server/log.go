package server

// The log messages of this package.
const (
	// logRPC: an RPC has ended. Do: nothing for info and debug; for warn and error read the
	// attributes code and error, and find the RPC's other lines and its trace by request_id and
	// trace_id.
	logRPC = "rpc"
	// logServing: the server accepts RPCs. Do: nothing.
	logServing = "serving"
	// logDraining: the server shuts down: it reports NOT_SERVING and waits for RPCs in flight. Do:
	// nothing.
	logDraining = "draining"
	// logDrainTimeout: RPCs did not end within drain_timeout. Do: raise server.drain_timeout if
	// questions take longer.
	logDrainTimeout = "drain timed out, cancelling RPCs in flight"
	// logFrontCloseFailed: the HTTP listener failed to close on shutdown. Do: nothing, unless the
	// process stays.
	logFrontCloseFailed = "front server close failed"
	// logMetricsStopped: the metrics endpoint failed; RPCs are served on. Do: restart the service.
	logMetricsStopped = "metrics server stopped"
	// logHealthStopped: the plain-text health endpoint failed; RPCs are served on. Do: restart the
	// service.
	logHealthStopped = "health server stopped"
	// logAudit: a line of the audit log, in the service's log. Do: nothing.
	logAudit = "audit"
	// logAuditFailed: the audit file cannot be written; its line is in the service's log instead.
	// Do: free the disk or correct the permissions of file.
	logAuditFailed = "audit write failed; record included below"
)
