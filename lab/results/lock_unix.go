//go:build linux || darwin

package results

import (
	"os"
	"syscall"
)

// lock keeps a second process from adding to a file. It ends with the process,
// however that ends.
func lock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
