// Command scripted runs a whole mesh with a scripted model over a part of the bundled Wikidata
// facts, for tests of its clients in any language.
//
//	go run ./tests/scripted --grpc 127.0.0.1:0 --script more.yaml
//
// Once the mesh serves, it prints its addresses as one line of JSON:
//
//	{"grpc":"127.0.0.1:40123","http":"127.0.0.1:40124","model":"http://127.0.0.1:40125/v1"}
//
// It logs to standard error, and exits on SIGTERM, on SIGINT, or when the pipe that is its standard
// input is closed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	grpc, http string
	config     string
	script     string
	data       string
	set        settings
	nth        int
	latency    time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	if isPipe(os.Stdin) {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // on any error the parent process is gone
			cancel()
		}()
	}
	if err := serve(ctx, flags(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scripted:", err)
		os.Exit(1)
	}
}

func flags() options {
	o := options{set: settings{}}
	flag.StringVar(&o.grpc, "grpc", "127.0.0.1:0", "address of the orchestrator; port 0 takes a free one")
	flag.StringVar(&o.http, "http", "127.0.0.1:0", "its HTTP address; port 0 takes a free one, empty disables HTTP")
	flag.StringVar(&o.config, "config", "", "configuration file of the mesh")
	flag.Var(o.set, "set", "one setting, KEY=VALUE; may be repeated")
	flag.StringVar(&o.script, "script", "", "YAML file of rules that precede the built-in ones (see script.yaml)")
	flag.StringVar(&o.data, "data", "",
		"directory of knowledge graphs and runs; empty takes a temporary one")
	flag.IntVar(&o.nth, "nth", 100, "one in so many of the bundled facts is loaded, beside those the script speaks "+
		"of; 1 takes all")
	flag.DurationVar(&o.latency, "latency", 0, "latency of each model answer")
	flag.Parse()
	return o
}

// settings are KEY=VALUE flags.
type settings map[string]string

func (s settings) String() string { return "" }

func (s settings) Set(pair string) error {
	key, value, ok := strings.Cut(pair, "=")
	if !ok {
		return fmt.Errorf("%q is not KEY=VALUE", pair)
	}
	s[key] = value
	return nil
}

// isPipe reports whether f is a pipe or a socket.
func isPipe(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}
