package load

import "os"

// NewBuilder returns a Builder that holds nothing. Its scratch files, should
// there be any, go to the system's directory for temporary files.
func NewBuilder() *Builder {
	return newBuilder(&scratch{disk: osDisk{}, parent: os.TempDir()}, DefaultMemory)
}
