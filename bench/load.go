package bench

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// loadMemory is the memory that putting triples in order may take.
const loadMemory = 2 << 30

// load puts many triples in order: those of the file again and again, under
// changed names, or generated ones where no file is named. Nothing is written
// but scratch files, and nothing encoded but relations.
func (b *bench) load(ctx context.Context) error {
	file, err := b.manyTriples(ctx)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	scratch := filepath.Join(b.work, "scratch")
	if err := os.Mkdir(scratch, 0o755); err != nil {
		return err
	}
	b.progress("load: putting %d lines in order, %.1f GB", b.Lines, float64(info.Size())/1e9)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(loadMemory - loadMemory/8))
	stop := watchMemory()
	began := time.Now()
	sink := &drain{}
	report, err := load.Files(ctx, sink, constant{}, []string{file}, load.Options{
		KG: "bench", Vectors: load.RelationVectors, Scratch: scratch, NoActivate: true,
	})
	if err != nil {
		return err
	}
	took, held := time.Since(began), stop()
	title := fmt.Sprintf("load %d lines, %d threads, from parsing to sorted order", b.Lines, b.Threads)
	note := fmt.Sprintf("%d triples and %d entities in order, %d lines read twice", sink.triples, sink.entities,
		report.Duplicates)
	b.add(Row{Contest: title, Name: "triplemesh", Value: took.Seconds(), Unit: "s", Note: note})
	b.add(Row{Contest: title, Name: "triplemesh: speed", Value: float64(b.Lines) / took.Seconds() / 1e6,
		Unit: "M triples/s"})
	b.add(Row{Contest: title, Name: "triplemesh: memory", Value: float64(held) / 1e6, Unit: "MB"})
	return nil
}

// manyTriples writes the lines to load.
func (b *bench) manyTriples(ctx context.Context) (path string, err error) {
	base, err := b.baseTriples()
	if err != nil {
		return "", err
	}
	path = filepath.Join(b.work, "triples.tsv")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b.progress("load: generating %d lines", b.Lines)
	out := bufio.NewWriterSize(f, 1<<20)
	for n := 0; n < b.Lines; n++ {
		if n%65536 == 0 {
			if err := ctx.Err(); err != nil {
				return "", err
			}
		}
		t := base[n%len(base)]
		copyNumber := strconv.Itoa(n / len(base))
		for i, part := range []string{t[0], " ", copyNumber, "\t", t[1], "\t", t[2], " ", copyNumber, "\n"} {
			if _, err := out.WriteString(part); err != nil {
				return "", fmt.Errorf("write part %d of line %d: %w", i, n, err)
			}
		}
	}
	if err := out.Flush(); err != nil {
		return "", err
	}
	return path, f.Close()
}

// baseTriples returns those that are repeated.
func (b *bench) baseTriples() (base [][3]string, err error) {
	if b.Triples == "" {
		for i := range 100_000 {
			base = append(base, [3]string{
				fmt.Sprintf("Subject number %d", i/5), fmt.Sprintf("relation %d", i%50), fmt.Sprintf("Object number %d",
					i*7919%60_000),
			})
		}
		return base, nil
	}
	f, err := os.Open(b.Triples)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(b.Triples, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", b.Triples, err)
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if parts := strings.Split(lines.Text(), "\t"); len(parts) >= 3 {
			base = append(base, [3]string(parts[:3]))
		}
	}
	if len(base) == 0 {
		return nil, fmt.Errorf("%s: no line has three columns", b.Triples)
	}
	return base, lines.Err()
}

// drain is a store that only looks whether what it is given is in order.
type drain struct {
	entities, triples int
}

// Write implements store.Writer.
func (d *drain) Write(ctx context.Context, kg string, content store.Content) (store.Info, error) {
	last := ""
	if err := content.Entities(ctx, func(n store.NamedEntity) error {
		if d.entities > 0 && n.Name <= last {
			return fmt.Errorf("entity %q comes after %q", n.Name, last)
		}
		last = n.Name
		d.entities++
		return nil
	}); err != nil {
		return store.Info{}, err
	}
	var before store.Triple
	err := content.Triples(ctx, func(t store.DatedTriple) error {
		if d.triples > 0 && (t.Subject < before.Subject || t.Subject == before.Subject &&
			t.Relation < before.Relation) {
			return fmt.Errorf("triple %d is out of order", d.triples)
		}
		before = t.Triple
		d.triples++
		return nil
	})
	return store.Info{KG: kg, Number: 1, Triples: d.triples, Entities: d.entities}, err
}

// Activate does nothing.
func (d *drain) Activate(context.Context, string, uint64) (store.Info, error) {
	return store.Info{}, nil
}

// Drop does nothing.
func (d *drain) Drop(context.Context, string, uint64) ([]uint64, error) { return nil, nil }

// constant is an encoder to which all texts are alike.
type constant struct{}

// Name implements encoder.Encoder.
func (constant) Name() string { return "constant" }

// Dims implements encoder.Encoder.
func (constant) Dims() int { return 1 }

// Encode implements encoder.Encoder.
func (constant) Encode(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = []float32{1}
	}
	return vectors, nil
}
