// Package openai tests the OpenAI-compatible API with the official clients for Python and Node,
// against a whole mesh with a scripted model: make openai-test.
package openai
