package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// engine is an encoder and the store that real triples are measured with,
// opened when a measure first asks for them.
type engine struct {
	encoder encoder.Encoder
	close   func() error
	cache   *vectorcache.Cache
	tenants store.Tenants
	graphs  store.Store
	kg      string
}

// The encoders that triples are loaded with.
const (
	fp32 = "fp32"
	int8 = "int8"
)

// engine opens the default encoder, and loads the triples where that was not
// done by an earlier run.
func (b *bench) engine(ctx context.Context) (*engine, error) { return b.engineWith(ctx, fp32) }

func (b *bench) engineWith(ctx context.Context, kind string) (*engine, error) {
	if e := b.opened[kind]; e != nil {
		return e, nil
	}
	if b.Triples == "" {
		return nil, fmt.Errorf("%w: no file of triples is named: --triples FILE", errSkip)
	}
	enc, closeEncoder, err := b.encoder(kind)
	if err != nil {
		return nil, err
	}
	cache, err := vectorcache.Open(filepath.Join(b.Cache, "bench", "vectors"), vectorcache.Options{})
	if err != nil {
		return nil, errors.Join(err, closeEncoder())
	}
	tenants := embedded.NewTenants(filepath.Join(b.Cache, "bench", "kg"))
	graphs, err := tenants.ForTenant(auth.DefaultTenant())
	if err != nil {
		return nil, errors.Join(err, cache.Close(), closeEncoder())
	}
	e := &engine{encoder: enc, cache: cache, tenants: tenants, graphs: graphs, close: func() error {
		return errors.Join(tenants.Close(), cache.Close(), closeEncoder())
	}}
	if b.opened == nil {
		b.opened = map[string]*engine{}
	}
	b.opened[kind] = e
	if e.kg, err = kgName(b.Triples, kind); err != nil {
		return nil, err
	}
	if snap, err := e.graphs.Open(ctx, e.kg, 0); err == nil {
		snap.Release()
		return e, nil
	}
	b.progress("loading %s by the %s encoder; the next run finds it there", b.Triples, kind)
	_, err = load.Files(ctx, e.graphs, e.cache.Encoder(enc), []string{b.Triples}, load.Options{KG: e.kg})
	return e, err
}

// encoder opens the model that `triplemesh setup` fetches, one way or the
// other.
func (b *bench) encoder(kind string) (encoder.Encoder, func() error, error) {
	model, vocabulary := filepath.Join(b.Cache, "encoder", "model.onnx"), filepath.Join(b.Cache, "encoder", "vocab.txt")
	if kind == int8 {
		e, err := bert.New(bert.Config{Model: model, Vocabulary: vocabulary, Name: encoderName, Threads: b.Threads})
		return e, func() error { return nil }, err
	}
	e, err := onnx.New(onnx.Config{
		Library: filepath.Join(b.Cache, "onnxruntime", "libonnxruntime.so"),
		Model:   model, Vocabulary: vocabulary, Name: encoderName, Threads: b.Threads,
	})
	if err != nil {
		return nil, nil, err
	}
	return e, e.Close, nil
}

// encoderName is the model that `triplemesh setup` fetches.
const encoderName = "all-MiniLM-L6-v2"

// kgName names what is loaded from a file as it is now: another file, or one
// that changed, is reloaded.
func kgName(path, kind string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("bench-%s-%x-%x", kind, info.Size(), info.ModTime().Unix()), nil
}

// loaded returns the snapshot of the triples; the caller releases it.
func (b *bench) loaded(ctx context.Context) (store.Snapshot, error) {
	e, err := b.engine(ctx)
	if err != nil {
		return nil, err
	}
	return e.graphs.Open(ctx, e.kg, 0)
}

// question is a line of the questions' file.
type question struct {
	Question      string   `json:"question"`
	TopicEntities []string `json:"topic_entities"`
	Answers       []string `json:"answers"`
	// PseudoGraph is what a model drafted, if that is known.
	PseudoGraph [][3]string `json:"pseudo_graph"`
}

// questions returns the first n of the file.
func (b *bench) questions(n int) ([]question, error) {
	if b.Questions == "" {
		return nil, fmt.Errorf("%w: no file of questions is named: --questions FILE", errSkip)
	}
	var all []question
	err := jsonLines(b.Questions, func(q question) bool {
		if q.Question != "" {
			all = append(all, q)
		}
		return len(all) < n
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf(`read questions: %s has none; want lines {"question": …}`, b.Questions)
	}
	return all, err
}

// questionVectors returns the vectors of the first n questions.
func (b *bench) questionVectors(ctx context.Context, n int) ([][]float32, error) {
	questions, err := b.questions(n)
	if err != nil {
		return nil, err
	}
	e, err := b.engine(ctx)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(questions))
	for i, q := range questions {
		texts[i] = q.Question
	}
	return e.encoder.Encode(ctx, texts)
}

// jsonLines hands the lines of a file to take until it says false.
func jsonLines[T any](path string, take func(T) bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if !take(v) {
			break
		}
	}
	return lines.Err()
}
