package testkit

import (
	"log"
	"testing"
)

// Process stands where a test would in a program that serves an LLM for long:
// what would fail a test is logged, what would end one ends the program.
type Process struct{ testing.TB }

// Helper does nothing.
func (Process) Helper() {}

// Cleanup does nothing: the end of the process cleans up.
func (Process) Cleanup(func()) {}

// Errorf logs.
func (Process) Errorf(format string, args ...any) { log.Printf(format, args...) }

// Fatalf logs and ends the process.
func (Process) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

// Fatal logs and ends the process.
func (Process) Fatal(args ...any) { log.Fatal(args...) }
