package main

import (
	"testing"
	"testing/fstest"
)

func TestMessagesAreReadOffTheConstantsOfLogFiles(t *testing.T) {
	got, err := collectMessages(fstest.MapFS{
		"internal/llm/log.go": {Data: []byte(`package llm

const (
	// logCircuitOpened: the endpoint failed too often; calls
	// skip it. Do: check the model server.
	logCircuitOpened = "circuit opened"
	// logCacheHit: an answer came from the cache.
	logCacheHit = "cache hit"
)
`)},
		"internal/llm/testdata/log.go": {Data: []byte("not Go")},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "| message | package | meaning | action |\n|---|---|---|---|\n" +
		"| `cache hit` | `internal/llm` | An answer came from the cache. |  |\n" +
		"| `circuit opened` | `internal/llm` | The endpoint failed too often; calls skip it. | " +
		"Check the model server. |\n"
	if messageTable(got) != want {
		t.Errorf("got\n%s\nwant\n%s", messageTable(got), want)
	}
}

func TestAMessageWithoutACommentIsAnError(t *testing.T) {
	_, err := parseMessages("log.go", []byte("package p\n\nconst logDone = \"done\"\n"))
	if err == nil {
		t.Error("a constant without a comment was accepted")
	}
}

func TestTheTableInTheDocumentIsInStepWithTheCode(t *testing.T) {
	t.Chdir("../..")
	if err := checkLogs(false); err != nil {
		t.Error(err)
	}
}
