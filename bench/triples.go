package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/onnx"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/vectorcache"
)

// engine is the encoder and the store that real triples are measured with,
// opened when a measure first asks for them.
type engine struct {
	encoder *onnx.Encoder
	cache   *vectorcache.Cache
	graphs  *embedded.Store
	kg      string
}

func (e *engine) close() error {
	if e == nil {
		return nil
	}
	return errors.Join(e.graphs.Close(), e.cache.Close(), e.encoder.Close())
}

// engine opens the encoder, and loads the triples where that was not done by an
// earlier run.
func (b *bench) engine(ctx context.Context) (*engine, error) {
	if b.opened != nil {
		return b.opened, nil
	}
	if b.Triples == "" {
		return nil, fmt.Errorf("%w: no file of triples is named: --triples FILE", errSkip)
	}
	enc, err := b.onnx()
	if err != nil {
		return nil, err
	}
	e := &engine{encoder: enc, graphs: embedded.New(filepath.Join(b.Cache, "bench", "kg"))}
	if e.cache, err = vectorcache.Open(filepath.Join(b.Cache, "bench", "vectors"), vectorcache.Options{}); err != nil {
		return nil, errors.Join(err, enc.Close())
	}
	b.opened = e
	if e.kg, err = kgName(b.Triples); err != nil {
		return nil, err
	}
	if snap, err := e.graphs.Open(ctx, e.kg, 0); err == nil {
		snap.Release()
		return e, nil
	}
	b.progress("loading %s; the next run finds it there", b.Triples)
	_, err = load.Files(ctx, e.graphs, e.cache.Encoder(enc), []string{b.Triples}, load.Options{KG: e.kg})
	return e, err
}

// encoderName is the model that `triplemesh setup` fetches.
const encoderName = "all-MiniLM-L6-v2"

func (b *bench) onnx() (*onnx.Encoder, error) {
	return onnx.New(onnx.Config{
		Library:    filepath.Join(b.Cache, "onnxruntime", "libonnxruntime.so"),
		Model:      filepath.Join(b.Cache, "encoder", "model.onnx"),
		Vocabulary: filepath.Join(b.Cache, "encoder", "vocab.txt"),
		Name:       encoderName, Threads: b.Threads,
	})
}

// kgName names what is loaded from a file as it is now: another file, or one
// that changed, is loaded anew.
func kgName(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("bench-%x-%x", info.Size(), info.ModTime().Unix()), nil
}

// loaded is the snapshot of the triples; the caller releases it.
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
	// PseudoGraph is what a model drafted, where that is known.
	PseudoGraph [][3]string `json:"pseudo_graph"`
}

// questions are the first n of the file.
func (b *bench) questions(n int) ([]question, error) {
	if b.Questions == "" {
		return nil, fmt.Errorf("%w: no file of questions is named: --questions FILE", errSkip)
	}
	var all []question
	err := jsonLines(b.Questions, func(q question) bool {
		all = append(all, q)
		return len(all) < n
	})
	return all, err
}

// asked are the vectors of the first n questions.
func (b *bench) asked(ctx context.Context, n int) ([][]float32, error) {
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
	return encoder.Encoder(e.encoder).Encode(ctx, texts)
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
