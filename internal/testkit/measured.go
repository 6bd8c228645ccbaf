package testkit

import (
	"fmt"
	"strconv"
	"testing"
)

// Measured reports what a test measured. If the test passes, `go test -v` prints it as an attribute,
// which `go run ./tests/measured` enters in docs/reliability.md under the test's name.
func Measured(tb testing.TB, format string, args ...any) {
	tb.Helper()
	text := fmt.Sprintf(format, args...)
	if tb.Failed() {
		tb.Log(text)
		return
	}
	tb.Attr("measured", strconv.Quote(text))
}
