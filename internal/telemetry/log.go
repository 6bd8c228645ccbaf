package telemetry

// Log messages.
const (
	// logSpansUnsent: the service ended before the collector had taken all spans. Do: check that
	// OTEL_EXPORTER_OTLP_ENDPOINT is reachable, or raise telemetry.flush_timeout.
	logSpansUnsent = "spans not sent before shutdown"
	// logSpansNotExported: the collector refused spans or was not reachable; they are lost. Do: check
	// OTEL_EXPORTER_OTLP_ENDPOINT and the collector.
	logSpansNotExported = "span export failed"
	// logLinesDropped: more lines with the message in of were logged in one second than
	// telemetry.log_repeats allows; the others were dropped. Do: look at the cause of these lines.
	logLinesDropped = "repeated log lines dropped"
)
