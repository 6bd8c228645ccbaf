// Command triplemesh-bench measures the retrieval engine beside its peers, and a mesh under load.
package main

import (
	"context"
	"io"
	"os"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/cli"
)

// commands are those of triplemesh-bench.
type commands struct {
	cli.GlobalFlags

	Engine engineCommand `cmd:"" default:"withargs" help:"Measure the retrieval engine beside its peers."`
	Ask    askCommand    `cmd:"" help:"Ask a mesh questions one after another, and measure each stage and model call."`
	Load   loadCommand   `cmd:"" help:"Ask a mesh questions at a stated rate, and measure its answers."`
}

func run(ctx context.Context, args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var c commands
	return cli.App{
		Name:  "triplemesh-bench",
		About: "Measures the retrieval engine beside its peers, and a mesh under load.",
		Flags: &c.GlobalFlags, Commands: &c, Vars: helpTexts,
	}.Run(ctx, "", args, env, stdin, stdout, stderr)
}

func main() {
	ctx, stop := cli.NotifyContext()
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
