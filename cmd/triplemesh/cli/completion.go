package cli

import (
	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is printed below the flags.
func (completionCommand) Help() string {
	return `bash:  source <(triplemesh completion bash)      in ~/.bashrc
zsh:   source <(triplemesh completion zsh)       in ~/.zshrc
fish:  triplemesh completion fish | source       in ~/.config/fish/config.fish`
}

// Run prints the code.
func (c completionCommand) Run(ctx *kong.Context) error {
	return (&kongcompletion.Completion{Shell: c.Shell, Code: true}).Run(ctx)
}
