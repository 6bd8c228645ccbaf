package verifier

import (
	"embed"
	"io/fs"
)

//go:embed prompts/*.yaml
var promptFiles embed.FS

// Prompts returns the prompt files, which internal/prompt reads.
func Prompts() fs.FS {
	files, _ := fs.Sub(promptFiles, "prompts") // fails for an invalid path only
	return files
}
