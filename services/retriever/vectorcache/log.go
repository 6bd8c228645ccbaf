package vectorcache

// Messages of the vector cache's log. The cache is an optimisation: after each of these, texts are
// encoded again at the cost of time.
const (
	// logVectorWriteFailed: vectors could not be written to the cache directory. Do: check that the
	// directory is writable and that its disk has room.
	logVectorWriteFailed = "vector cache write failed"
	// logSegmentDropped: a segment without a valid header was deleted. Do: check the disk if it recurs.
	logSegmentDropped = "vector cache segment corrupt, dropped"
	// logSegmentSkipped: a segment could not be opened, such as one of a newer version, and stays
	// unused. Do: see error; delete its two files if no newer program uses the directory.
	logSegmentSkipped = "vector cache segment skipped"
	// logSegmentReadFailed: new records of a segment could not be indexed. Do: see error.
	logSegmentReadFailed = "vector cache segment read failed"
	// logSegmentDropFailed: the files of an evicted or corrupt segment could not be deleted. Do: check
	// the permissions of the cache directory; delete them by hand.
	logSegmentDropFailed = "vector cache segment drop failed"
	// logChecksumMismatch: vectors differed from their checksums and were encoded again. Do: check the
	// disk if it recurs.
	logChecksumMismatch = "vector cache checksum mismatch"
	// logRefreshFailed: vectors written by other processes cannot be seen. Do: see error.
	logRefreshFailed = "vector cache refresh failed"
)
