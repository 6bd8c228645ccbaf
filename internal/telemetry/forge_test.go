package telemetry_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// What stands in a log comes from callers, files and models too. None of it may
// begin a line, or steer the terminal that shows it.
func TestNoValueForgesALineOfTheLog(t *testing.T) {
	const hostile = "a\nlevel=ERROR " +
		"msg=forged\r\n{\"level\":\"ERROR\",\"msg\":\"forged\"}\u2028\x1b[2J\x07\x00\u202e\xff\" end=\""
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			var log bytes.Buffer
			tel, err := telemetry.Start(t.Context(), telemetry.Config{LogLevel: "debug", LogFormat: format,
				LogWriter: &log}, "forge")
			if err != nil {
				t.Fatal(err)
			}
			defer tel.Shutdown(t.Context())
			log.Reset()
			tel.Logger().Warn(hostile, "kg", hostile, hostile, "value", "error", errors.New(hostile), "names",
				[]string{hostile}, "bytes", []byte(hostile))
			got := log.String()
			if strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "\n") ||
				strings.ContainsAny(got, "\x1b\x07\x00\r") {
				t.Errorf("it is written as %q", got)
			}
		})
	}
}
