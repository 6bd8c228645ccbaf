package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// encodedTexts is how many triples are encoded in one turn.
const encodedTexts = 2000

// encode compares the encoders on the texts of triples.
func (b *bench) encode(ctx context.Context) (err error) {
	snap, err := b.loaded(ctx)
	if err != nil {
		return err
	}
	defer snap.Release()
	texts := textsOf(snap, encodedTexts)
	var contestants []contestant
	for _, kind := range []string{fp32, int8} {
		enc, closeEncoder, err := b.encoder(kind)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closeEncoder()) }()
		contestants = append(contestants, encoding("triplemesh "+kind, enc, texts))
	}
	if b.peers != nil {
		python, err := b.peers.start(ctx, "encoder")
		if err != nil {
			return err
		}
		defer python.stop()
		file := filepath.Join(b.work, "texts")
		if err := os.WriteFile(file, []byte(strings.Join(texts, "\n")+"\n"), 0o644); err != nil {
			return err
		}
		if _, err := python.ask(map[string]any{
			"open": filepath.Join(b.Cache, "encoder", "model.onnx"), "vocabulary": filepath.Join(b.Cache, "encoder",
				"vocab.txt"), "threads": b.Threads,
		}); err != nil {
			return err
		}
		peer, _ := python.contestant("ONNX Runtime in Python, fp32", "texts of like length in batches of 32",
			map[string]any{"encode": file, "batch": 32, "repeat": 1})
		contestants = append(contestants, peer)
	}
	return b.contest(ctx, fmt.Sprintf("encode %d triples, %d threads", len(texts), b.Threads), b.Rounds, contestants...)
}

func encoding(name string, enc encoder.Encoder, texts []string) contestant {
	return contestant{name: name, run: timed(func(ctx context.Context) error {
		_, err := enc.Encode(ctx, texts)
		return err
	})}
}

// textsOf returns the words of n triples from all over a snapshot.
func textsOf(snap store.Snapshot, n int) []string {
	triples := snap.Info().Triples
	texts := make([]string, 0, n)
	for i := range min(n, triples) {
		texts = append(texts, textOf(snap, store.TripleID(i*triples/min(n, triples))))
	}
	return texts
}

func textOf(snap store.Snapshot, id store.TripleID) string {
	t := snap.Triple(id)
	return kgtext.VerbaliseTriple(snap.EntityName(t.Subject), snap.RelationName(t.Relation), snap.EntityName(t.Object))
}
