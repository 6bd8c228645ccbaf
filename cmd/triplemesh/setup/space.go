package setup

import (
	"fmt"
	"syscall"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/progress"
)

// needSpace fails where the disk below dir cannot take the bytes.
func needSpace(dir string, bytes int64) error {
	free, err := Free(dir)
	if err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	if free < bytes {
		return fmt.Errorf("set up: %s needs %s more, the disk has %s: make room, or name another place with --cache", dir, progress.Size(bytes), progress.Size(free))
	}
	return nil
}

// Free is how many bytes the disk below dir can take.
func Free(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("look how full %s is: %w", dir, err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
