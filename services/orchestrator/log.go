package orchestrator

// Log messages.
const (
	// logStageFailed: a stage failed, and the question was answered by what the others found. Do: see
	// warning; find the stage's own lines by trace_id.
	logStageFailed = "stage failed, question answered without it"
	// logRunNotStored: a question was answered, but its run could not be written. Do: check the disk
	// and the permissions of orchestrator.runs.file or orchestrator.runs.dir.
	logRunNotStored = "run not stored"
	// logRunFileSkipped: a file in the directory of runs could not be read, and lists leave it out.
	// Do: move the file at path away, or restore it from a backup.
	logRunFileSkipped = "run file skipped"
	// logFeedbackFileSkipped: a file of feedback could not be read, and lists leave it out. Do: move the
	// file at path away, or restore it from a backup.
	logFeedbackFileSkipped = "feedback file skipped"
	// logQuotaNotStored: usage is counted in memory only, and lost at a restart. Do: check the disk and
	// the permissions of the quota directory beside the runs.
	logQuotaNotStored = "quota usage not stored"
)
