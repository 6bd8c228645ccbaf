package retriever

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func TestEncoderConfigValidation(t *testing.T) {
	for name, spoil := range map[string]func(*EncoderConfig){
		"encoder.kind":            func(c *EncoderConfig) { c.Kind = "int4" },
		"encoder.cache.max_bytes": func(c *EncoderConfig) { c.Cache.MaxBytes = -1 },
	} {
		c := defaultEncoder()
		spoil(&c)
		if err := c.validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v does not name it", name, err)
		}
	}
}

func TestVectorsAreCachedAcrossRestarts(t *testing.T) {
	c := defaultEncoder()
	c.Kind = encoderInt8
	c.File, c.Vocabulary = testkit.Cache(t, "encoder", "model.onnx"), testkit.Cache(t, "encoder", "vocab.txt")
	c.Cache.Dir = filepath.Join(t.TempDir(), "vectors")
	texts := []string{"Berlin capital of Germany", "Paris capital of France"}
	var first [][]float32
	for range 2 {
		enc, closeEncoder, err := newEncoder(t.Context(), c, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		vectors, err := enc.Encode(auth.WithTenant(t.Context(), auth.DefaultTenant()), texts)
		if err != nil {
			t.Fatal(err)
		}
		if err := closeEncoder(); err != nil {
			t.Error(err)
		}
		if first == nil {
			first = vectors
		} else if !slices.EqualFunc(vectors, first, slices.Equal) {
			t.Error("after a new start the vectors are others")
		}
	}
	file, err := os.ReadFile(filepath.Join(c.Cache.Dir, "vectors.db"))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range first {
		kept, err := binary.Append(nil, binary.LittleEndian, v)
		if err != nil || !bytes.Contains(file, kept) {
			t.Errorf("the vector of %q is not in the cache; %v", texts[i], err)
		}
	}
}

func TestEncodersNeedTheirFiles(t *testing.T) {
	for _, kind := range []string{encoderAuto, encoderONNX, encoderInt8} {
		c := defaultEncoder()
		c.Kind, c.Vocabulary = kind, "no such file"
		if _, _, err := newEncoder(t.Context(), c, slog.New(slog.DiscardHandler)); err == nil ||
			!strings.Contains(err.Error(), "no such file") {
			t.Errorf("%s: error %v does not name the file", kind, err)
		}
	}
}

func TestTheFasterEncoderIsChosenAndBothReadTheirSnapshots(t *testing.T) {
	c := defaultEncoder()
	c.File, c.Vocabulary = testkit.Cache(t, "encoder", "model.onnx"), testkit.Cache(t, "encoder", "vocab.txt")
	c.Library = testkit.Cache(t, "onnxruntime", "libonnxruntime.so")
	var log bytes.Buffer
	enc, closeEncoder, err := newEncoder(t.Context(), c, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := closeEncoder(); err != nil {
			t.Error(err)
		}
	}()
	if !strings.Contains(log.String(), logEncoderChosen) {
		t.Errorf("log: %s", log.String())
	}
	for _, kind := range []string{encoderInt8, encoderONNX} {
		own, closeOwn, err := newModel(t.Context(), c, kind)
		if err != nil {
			t.Fatal(err)
		}
		got, err := encoder.ForName(t.Context(), enc, own.Name())
		if err != nil || got.Name() != own.Name() {
			t.Fatalf("%s: got %v, %v", kind, got, err)
		}
		if _, err := got.Encode(t.Context(), []string{"Berlin"}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if !rank.ReadsShipped(shippedRanker(t), own.Name()) {
			t.Errorf("the shipped ranker does not rank graphs of %s", own.Name())
		}
		if err := closeOwn(); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{
		"other@1": "this retriever runs", c.Model + "@1": "the files at hand make",
		c.Model + "-int8@1": "the files at hand make",
	} {
		if _, err := encoder.ForName(t.Context(), enc, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

func TestWithoutONNXRuntimeTheOtherEncoderIsChosen(t *testing.T) {
	c := defaultEncoder()
	c.File, c.Vocabulary = testkit.Cache(t, "encoder", "model.onnx"), testkit.Cache(t, "encoder", "vocab.txt")
	c.Library = "no such library"
	enc, closeEncoder, err := newEncoder(t.Context(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(enc.Name(), "-int8@") || !rank.ReadsShipped(shippedRanker(t), enc.Name()) {
		t.Errorf("%s was chosen", enc.Name())
	}
	if err := closeEncoder(); err != nil {
		t.Error(err)
	}
}

func shippedRanker(t *testing.T) *rank.Ranker {
	t.Helper()
	r, err := rank.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// twoEncoders prefers the first.
type twoEncoders struct{ encoder.Encoder }

func (twoEncoders) ForName(_ context.Context, name string) (encoder.Encoder, error) {
	if name == storetest.HashEncoder(16).Name() {
		return storetest.HashEncoder(16), nil
	}
	return nil, errors.New("unknown")
}

func TestEachSnapshotIsReadAndChangedWithItsEncoder(t *testing.T) {
	ctx := auth.WithTenant(t.Context(), auth.DefaultTenant())
	tenants := embedded.NewTenants(t.TempDir())
	defer func() {
		if err := tenants.Close(); err != nil {
			t.Error(err)
		}
	}()
	enc := twoEncoders{storetest.HashEncoder(32)}
	load := func(kg, fact string, mode retrieverv1.LoadMode, enc encoder.Encoder) {
		t.Helper()
		messages := []*retrieverv1.LoadKnowledgeGraphRequest{
			{Part: &retrieverv1.LoadKnowledgeGraphRequest_Header{Header: &retrieverv1.LoadHeader{
				Kg: &graphv1.KnowledgeGraphRef{Name: kg}, Mode: mode}}},
			{Part: &retrieverv1.LoadKnowledgeGraphRequest_File{File: &retrieverv1.FileHeader{Name: "facts.tsv"}}},
			{Part: &retrieverv1.LoadKnowledgeGraphRequest_Chunk{Chunk: []byte(fact)}},
		}
		_, err := NewKnowledgeGraphs(tenants, enc, t.TempDir()).load(ctx,
			func() (*retrieverv1.LoadKnowledgeGraphRequest, error) {
				if len(messages) == 0 {
					return nil, io.EOF
				}
				m := messages[0]
				messages = messages[1:]
				return m, nil
			}, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	load("old", "Rhine\tmouth\tNorth Sea\n", 0, storetest.HashEncoder(16))
	load("old", "Rhine\tcountry\tGermany\n", retrieverv1.LoadMode_LOAD_MODE_ADD, enc)
	load("new", "Rhine\tcountry\tGermany\n", 0, enc)
	service, err := New(tenants, enc, nil, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	for _, kg := range []string{"old", "new", "old"} {
		resp, err := service.SearchTriples(ctx, &retrieverv1.SearchTriplesRequest{
			Kg: &graphv1.KnowledgeGraphRef{Name: kg}, Queries: []string{"Rhine country Germany"}, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		hits := resp.GetResults()[0].GetTriples()
		if len(hits) != 1 || hits[0].GetTriple().GetObject() != "Germany" || hits[0].GetScore() < 0.99 {
			t.Errorf("%s: got %v", kg, hits)
		}
	}
}

// brokenEncoder fails at once.
type brokenEncoder struct{ encoder.Encoder }

func (brokenEncoder) Encode(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("broken")
}

func TestAnEncoderThatFailsIsNotTakenForAFastOne(t *testing.T) {
	works, noClose := storetest.HashEncoder(8), func() error { return nil }
	s := &encoderSet{log: slog.New(slog.DiscardHandler), opened: map[string]openedEncoder{
		encoderInt8: {Encoder: brokenEncoder{works}, close: noClose},
		encoderONNX: {Encoder: works, close: noClose},
	}}
	if kind := s.chooseFaster(t.Context()); kind != encoderONNX {
		t.Errorf("chose %s", kind)
	}
}
