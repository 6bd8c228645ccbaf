// Package openai tests the door for programs that know OpenAI's API with the
// official clients for Python and Node, against a whole mesh whose model answers
// by script: make openai-test.
package openai
