package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/bert"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/onnx"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/vectorcache"
)

// bench holds the inputs of a measurement.
type bench struct {
	data  string
	test  bool
	limit int
	kg    string
	// misspell: subjects of pseudo-graphs lack a letter.
	misspell bool
	// pseudo is the directory with pseudo-graphs that a model wrote; empty makes
	// them up.
	pseudo  string
	verbose bool
	// against is the store that agree compares with.
	against *otherStore
	graphs  *embedded.Store
	model   encoder.Encoder
	encoder *encoder.Cache
	out     io.Writer
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("calibrate", flag.ContinueOnError)
	data := flags.String("data", "", "directory with freebase/, wikidata/ and multisource/")
	cache := flags.String("cache", ".cache", "directory with encoder/ and onnxruntime/")
	kgs := flags.String("store", filepath.Join(".cache", "calibrate"),
		"where the knowledge graphs are kept between runs")
	vectors := flags.String("vectors", "", "directory of a vector cache; empty for none")
	kind := flags.String("encoder", "onnx", "onnx or int8; each has knowledge graphs of its own")
	part := flags.String("part", "dev", "dev or test")
	limit := flags.Int("limit", 300, "most questions of each dataset")
	kg := flags.String("kg", "", "measure only on this one of freebase, wikidata")
	verbose := flags.Bool("v", false, "print what is missed")
	pseudo := flags.String("pseudo", "", "directory with pseudo-graphs that a model wrote: zsre.jsonl, sq.jsonl, "+
		"webq.jsonl; ground measures on them")
	misspell := flags.Bool("misspell", false, "leave a letter out of the subjects of pseudo-graphs")
	other := &otherStore{}
	other.flags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	measures := map[string]func(context.Context, *bench) error{"paths": paths, "ground": grounds,
		"subject-first": compareSubjectFirst, "hybrid": hybrid, "link": links, "weights": weights, "agree": agree}
	measure, ok := measures[flags.Arg(0)]
	if !ok || *data == "" {
		return fmt.Errorf(
			"want -data DIR and one of paths, ground, subject-first, hybrid, link, weights, agree; got %q",
			flags.Args())
	}
	model, closeModel, err := newModel(*kind, *cache)
	if err != nil {
		return err
	}
	defer closeModel()
	if *vectors != "" {
		kept, err := vectorcache.Open(*vectors, vectorcache.Options{MaxBytes: 8 << 30})
		if err != nil {
			return err
		}
		defer kept.Close()
		model = kept.Encoder(model)
	}
	graphs := embedded.New(filepath.Join(*kgs, *kind))
	defer graphs.Close()
	return measure(auth.WithTenant(ctx, auth.DefaultTenant()), &bench{
		data: *data, test: *part == "test", limit: *limit, kg: *kg, verbose: *verbose, misspell: *misspell,
		pseudo: *pseudo, graphs: graphs, model: model, against: other,
		encoder: encoder.NewCache(model, 1<<16), out: out,
	})
}

// newModel opens the encoder that `triplemesh setup` fetched into a directory.
func newModel(kind, cache string) (encoder.Encoder, func() error, error) {
	const name = "all-MiniLM-L6-v2"
	model, vocabulary := filepath.Join(cache, "encoder", "model.onnx"), filepath.Join(cache, "encoder", "vocab.txt")
	switch kind {
	case "int8":
		e, err := bert.New(bert.Config{Model: model, Vocabulary: vocabulary, Name: name})
		return e, func() error { return nil }, err
	case "onnx":
		e, err := onnx.New(onnx.Config{
			Library: filepath.Join(cache, "onnxruntime", "libonnxruntime.so"), Model: model, Vocabulary: vocabulary,
			Name: name,
		})
		if err != nil {
			return nil, nil, err
		}
		return e, e.Close, nil
	}
	return nil, nil, fmt.Errorf("-encoder %q: want onnx or int8", kind)
}

// open opens a knowledge graph; the first time it is loaded, which takes some
// minutes.
func (b *bench) open(ctx context.Context, kg string) (store.Snapshot, error) {
	return b.load(ctx, filepath.Join(kg, "triples.tsv.gz"), kg, load.AllVectors)
}

// openToWalk opens a knowledge graph without the vectors of its triples, which
// neither paths nor links need: that loads in seconds.
func (b *bench) openToWalk(ctx context.Context, kg string) (store.Snapshot, error) {
	return b.load(ctx, filepath.Join(kg, "triples.tsv.gz"), kg+"-walk", load.RelationVectors)
}

func (b *bench) load(ctx context.Context, file, kg string, vectors load.Vectors) (store.Snapshot, error) {
	if snap, err := b.graphs.Open(ctx, kg, 0); err == nil {
		return snap, nil
	}
	options := load.Options{KG: kg, Vectors: vectors, Progress: func(p load.Progress) {
		fmt.Fprintf(os.Stderr, "load %s: %d of %d triples encoded\n", kg, p.Encoded, p.Triples)
	}}
	if _, err := load.Files(ctx, b.graphs, b.model, []string{filepath.Join(b.data, file)}, options); err != nil {
		return nil, err
	}
	return b.graphs.Open(ctx, kg, 0)
}
