package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/triplemesh/triplemesh/bench/load"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/cli"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// scriptedFlags are those of a mesh whose model answers by script.
type scriptedFlags struct {
	Scripted bool          `help:"${scripted_help}"`
	Latency  time.Duration `default:"100ms" help:"How long the scripted model takes for an answer."`
	Capacity int           `default:"4" help:"How many answers it works on at once; 0 for no bound."`
}

// scriptedKG holds the made-up facts.
const scriptedKG = "bench"

func scriptedQuestions() (all []load.Question) {
	for n := range load.Questions {
		text, subject, _ := load.ScriptedQuestion(n)
		all = append(all, load.Question{Question: text, TopicEntities: []string{subject}})
	}
	return all
}

// start runs a mesh with a scripted model until end is called. Where there are
// several tenants, it asks callers who they are, and tenants are told the files
// of their tokens.
func (f scriptedFlags) start(p *cli.Program, tenants []*tenant) (server string, end func() error, err error) {
	dir, err := os.MkdirTemp("", "triplemesh-bench-")
	if err != nil {
		return "", nil, err
	}
	closers := []func() error{func() error { return os.RemoveAll(dir) }}
	end = func() error {
		var errs []error
		for i := range closers {
			errs = append(errs, closers[len(closers)-1-i]())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, end())
		}
	}()
	model := load.ScriptedModel{Latency: f.Latency, Capacity: f.Capacity}
	url, stop, err := model.Serve()
	if err != nil {
		return "", nil, err
	}
	closers = append(closers, stop)
	o := mesh.Options{Home: p.Home, Sources: p.Sources, Private: true, Trusting: true, LogLevel: "error", Log: p.Stderr}
	o.Home.Data = dir
	o.Sources.Set = map[string]string{
		"llm.base_url": url, "llm.model": "scripted", "llm.cache.dir": "", "llm.cache.memory_entries": "0",
		// The scripted model has few words to say: one for each call.
		"reflector.reflection.mode": "model",
		"llm.reader":                "weak", // as the bundled model
	}
	if len(tenants) > 1 {
		o.Trusting = false
		settings, err := giveTokens(dir, tenants)
		if err != nil {
			return "", nil, err
		}
		maps.Copy(o.Sources.Set, settings)
	}
	maps.Copy(o.Sources.Set, p.Sources.Set)
	m, stopMesh, err := p.RunMesh(o)
	if err != nil {
		return "", nil, err
	}
	closers = append(closers, stopMesh)
	for _, t := range tenants {
		if err := fill(p, m.Addr("retriever"), t); err != nil {
			return "", nil, fmt.Errorf("load the made-up facts: %w", err)
		}
	}
	return m.Addr("orchestrator"), end, nil
}

// giveTokens writes a token for each tenant, and returns the settings by which
// the mesh knows them.
func giveTokens(dir string, tenants []*tenant) (map[string]string, error) {
	var known auth.Tokens
	for _, t := range tenants {
		token := auth.NewToken()
		known.Tokens = append(known.Tokens, auth.Token{Name: t.name, Tenant: t.name, Scopes: []string{"ask", "kg:read",
			"kg:write"}, SHA256: auth.Hash(token)})
		t.file = filepath.Join(dir, t.name)
		if err := os.WriteFile(t.file, []byte(token+"\n"), 0o600); err != nil {
			return nil, err
		}
	}
	text, err := known.Format()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "tokens.yaml")
	return map[string]string{"server.auth.tokens_file": file}, os.WriteFile(file, text, 0o600)
}

// fill loads the made-up facts for a tenant.
func fill(p *cli.Program, retriever string, t *tenant) error {
	as := *p
	as.Access = cli.AccessFlags{TokenFlags: cli.TokenFlags{TokenFile: t.file}}
	conn, err := as.Dial(retriever, "retriever", telemetry.Discard())
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(p.Ctx, time.Minute)
	defer cancel()
	stream, err := retrieverv1.NewKnowledgeGraphServiceClient(conn).LoadKnowledgeGraph(ctx)
	if err != nil {
		return err
	}
	for _, part := range []*retrieverv1.LoadKnowledgeGraphRequest{
		{Part: &retrieverv1.LoadKnowledgeGraphRequest_Header{Header: &retrieverv1.LoadHeader{
			Kg: &graphv1.KnowledgeGraphRef{Name: scriptedKG}}}},
		{Part: &retrieverv1.LoadKnowledgeGraphRequest_File{File: &retrieverv1.FileHeader{Name: "facts.tsv"}}},
		{Part: &retrieverv1.LoadKnowledgeGraphRequest_Chunk{Chunk: load.ScriptedFacts()}},
	} {
		if stream.Send(part) != nil {
			break // CloseAndRecv has the reason
		}
	}
	_, err = stream.CloseAndRecv()
	return err
}
