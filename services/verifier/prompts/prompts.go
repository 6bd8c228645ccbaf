// Package prompts holds the verifier's prompts as data.
package prompts

import "embed"

// Files are the prompt files; internal/prompt reads them.
//
//go:embed *.yaml
var Files embed.FS
