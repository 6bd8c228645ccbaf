//go:build cluster

package cluster

import (
	"fmt"
	"strings"
	"sync"
)

// measured are the figures of this run, in order.
var measured struct {
	sync.Mutex
	lines [][2]string
}

func figure(what, format string, args ...any) {
	measured.Lock()
	defer measured.Unlock()
	measured.lines = append(measured.lines, [2]string{what, fmt.Sprintf(format, args...)})
}

// figures renders all of them as a table.
func figures() string {
	measured.Lock()
	defer measured.Unlock()
	var b strings.Builder
	b.WriteString("\n| what | measured |\n|---|---|\n")
	for _, l := range measured.lines {
		fmt.Fprintf(&b, "| %s | %s |\n", l[0], l[1])
	}
	return b.String()
}
