package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/testkit"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// addresses are the endpoints of a mesh, printed as JSON.
type addresses struct {
	GRPC  string `json:"grpc"`
	HTTP  string `json:"http,omitempty"`
	Model string `json:"model"`
}

// serve runs a mesh until ctx ends, and writes its addresses to out once it serves.
func serve(ctx context.Context, o options, out io.Writer) (err error) {
	model, err := scripted(o.script, o.latency)
	if err != nil {
		return err
	}
	defer model.Kill()
	if o.data == "" {
		if o.data, err = os.MkdirTemp("", "triplemesh-scripted-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.data)) }()
	}
	at, err := setup.FindHome(setup.HomeOverrides{Data: o.data})
	if err != nil {
		return err
	}
	sources := config.Sources{File: o.config, Set: o.settings(model)}
	if err := loadSample(ctx, at, sources, o.nth); err != nil {
		return fmt.Errorf("load the sample: %w", err)
	}
	m, err := mesh.New(mesh.Options{Home: at, Sources: sources, LogLevel: "error", Log: os.Stderr})
	if err != nil {
		return err
	}
	return m.Run(ctx, func() {
		_, http, _ := strings.Cut(m.URL(), "://")
		err := json.NewEncoder(out).Encode(addresses{GRPC: m.Addr("orchestrator"), HTTP: http, Model: model.URL()})
		if err != nil {
			fmt.Fprintln(os.Stderr, "scripted: print the addresses:", err)
		}
	})
}

// settings returns the flags' settings over defaults for tests: free ports, no answer cache, short
// retry delays.
func (o options) settings(model *testkit.LLM) map[string]string {
	set := map[string]string{
		"llm.base_url": model.URL(), "llm.model": "scripted",
		"llm.cache.dir": "", "llm.cache.memory_entries": "0",
		"llm.retry_delay": "1ms", "llm.max_retry_delay": "1s",
		"reflector.reflection.mode": "model",
		"llm.reader":                "weak", // as the bundled model
	}
	for _, name := range mesh.StageNames() {
		set[name+".server.addr"] = "127.0.0.1:0"
	}
	set["orchestrator.server.addr"], set["orchestrator.http.addr"] = o.grpc, o.http
	maps.Copy(set, o.set)
	return set
}

// loadSample loads the sample as the knowledge graph wikidata if it does not exist, by a retriever
// without authentication, whatever is configured.
func loadSample(ctx context.Context, at setup.Home, sources config.Sources, nth int) error {
	m, err := mesh.New(mesh.Options{Home: at, Sources: sources, Targets: []string{"retriever"}, Trusting: true,
		Private: true, LogLevel: "error", Log: os.Stderr})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- m.Run(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		return err
	}
	err = fill(ctx, m.Addr("retriever"), nth)
	cancel()
	return errors.Join(err, <-ended)
}

func fill(ctx context.Context, retriever string, nth int) error {
	conn, err := grpc.NewClient("passthrough:///"+retriever, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	graphs := retrieverv1.NewKnowledgeGraphServiceClient(conn)
	if _, err := graphs.ListKnowledgeGraphs(ctx,
		&retrieverv1.ListKnowledgeGraphsRequest{KgName: "wikidata"}); status.Code(err) != codes.NotFound {
		return err
	}
	_, err = testkit.LoadTSV(ctx, graphs, "wikidata", sample(nth), false)
	return err
}
