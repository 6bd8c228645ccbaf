package setup

import (
	"fmt"
	"syscall"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/progress"
)

// needSpace fails where the disk below dir cannot take the bytes.
func needSpace(dir string, bytes int64) error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return fmt.Errorf("set up: look how full %s is: %w", dir, err)
	}
	free := int64(s.Bavail) * int64(s.Bsize)
	if free < bytes {
		return fmt.Errorf("set up: %s needs %s more, the disk has %s: make room, or name another place with --cache", dir, progress.Size(bytes), progress.Size(free))
	}
	return nil
}
