package embedded

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// residentPages counts the pages of a mapping that are in memory.
func residentPages(b *testing.B, data []byte) int {
	b.Helper()
	in := make([]byte, (len(data)+os.Getpagesize()-1)/os.Getpagesize())
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)),
		uintptr(unsafe.Pointer(&in[0]))); errno != 0 {
		b.Fatal(errno)
	}
	n := 0
	for _, page := range in {
		n += int(page & 1)
	}
	return n
}
