package vectorcache

// Messages of the vector cache's log. The cache is an optimisation: after each of these, texts are
// encoded again at the cost of time.
const (
	// logUnavailable: another process has the cache directory open, or its file cannot be opened.
	// Opening is retried every 10 s. Do: see error; give each process that encodes much a directory
	// of its own.
	logUnavailable = "vector cache unavailable"
	// logFileDropped: the cache file was corrupt, larger than its limit, or opened by three processes
	// that ended before they wrote to it, was deleted, and a new one was begun. Do: see error; check
	// the disk if it recurs.
	logFileDropped = "vector cache file dropped"
	// logVectorWriteFailed: vectors could not be written to the cache directory. Do: check that the
	// directory is writable and that its disk has room.
	logVectorWriteFailed = "vector cache write failed"
	// logChecksumMismatch: vectors differed from their checksums and were encoded again. Do: check
	// the disk if it recurs.
	logChecksumMismatch = "vector cache checksum mismatch"
)
