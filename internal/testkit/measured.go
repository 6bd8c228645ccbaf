package testkit

import (
	"fmt"
	"strconv"
	"testing"
)

// Measured reports what a test measured when the test ends. If it passes, `go test -v` prints the text as
// an attribute, which `go run ./tests/measured` enters in docs/reliability.md under the test's name.
func Measured(tb testing.TB, format string, args ...any) {
	tb.Helper()
	text := fmt.Sprintf(format, args...)
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Log(text)
			return
		}
		tb.Attr("measured", strconv.Quote(text))
	})
}
