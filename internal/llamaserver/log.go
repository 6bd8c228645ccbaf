package llamaserver

const (
	// logThreadsChosen: the thread count with the best generation rate was measured. Do: nothing.
	logThreadsChosen = "thread count chosen"
	// logServerRestarted: llama-server exited; it is restarted after pause. Do: read its log file.
	logServerRestarted = "llama-server exited, restarting"
	// logRestartFailed: llama-server did not come up; the next attempt follows after pause. Do: read
	// its log file; check memory and the model file.
	logRestartFailed = "llama-server restart failed"
	// logThreadsRemeasured: generation is slower than when the thread count was chosen, so it is
	// measured again. Do: nothing; if it repeats, check what else runs on the machine.
	logThreadsRemeasured = "generation slowed down, measuring thread count"
	// logWarmed: the constant beginnings of the prompts are in the model server's prompt cache. Do:
	// nothing.
	logWarmed = "prompt prefixes warmed"
	// logWarmFailed: a prompt's beginning was not evaluated ahead; the first question of its kind
	// evaluates it. Do: nothing; if questions fail too, read the model server's log file.
	logWarmFailed = "prompt prefix not warmed"
)
