package cli

import "github.com/triplemesh/triplemesh/internal/client"

// tokenFlags say who calls servers that ask.
type tokenFlags struct {
	Token         string `name:"token" placeholder:"TOKEN" env:"TRIPLEMESH_TOKEN" help:"Token to send to servers that ask who calls. Others on this machine may see it here: rather use the variable, or --token-file."`
	TokenFile     string `name:"token-file" type:"path" placeholder:"FILE" help:"File whose first line is that token."`
	InsecureToken bool   `name:"insecure-token" help:"Send the token to other machines over plain connections too, where whoever sits between can read it."`
}

// say puts the token into the configuration of a connection.
func (f tokenFlags) say(cfg client.Config) client.Config {
	cfg.InsecureToken = f.InsecureToken
	if cfg.TokenFile = f.TokenFile; cfg.TokenFile == "" {
		cfg.Token = f.Token
	}
	return cfg
}
