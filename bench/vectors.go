package bench

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// cluster is how many generated vectors lie about one centre: facts come in
// families, whose vectors are alike.
const cluster = 40

// vectorGenerator makes vectors as an encoder might: families about random centres.
type vectorGenerator struct {
	dims   int
	random *rand.Rand
	centre []float32
	row    []float32
	n      int
}

func newGenerated(dims int, seed uint64) *vectorGenerator {
	return &vectorGenerator{dims: dims, random: rand.New(rand.NewPCG(seed, 384)), centre: make([]float32, dims),
		row: make([]float32, dims)}
}

// the result of next is valid until the next call.
func (g *vectorGenerator) next() []float32 {
	if g.n%cluster == 0 {
		for i := range g.centre {
			g.centre[i] = float32(g.random.NormFloat64())
		}
	}
	g.n++
	var sum float64
	for i := range g.row {
		g.row[i] = g.centre[i] + 0.7*(g.random.Float32()*2-1)
		sum += float64(g.row[i]) * float64(g.row[i])
	}
	length := float32(math.Sqrt(sum))
	for i := range g.row {
		g.row[i] /= length
	}
	return g.row
}

// repeated hands the first n vectors out as they are, and then again and again
// with noise: like facts about other things.
func repeated(next func() []float32, n int) func() []float32 {
	var first [][]float32
	random := rand.New(rand.NewPCG(11, 384))
	row := []float32(nil)
	at := 0
	return func() []float32 {
		if len(first) < n {
			v := next()
			first = append(first, v)
			return v
		}
		v := first[at%n]
		at++
		if row == nil {
			row = make([]float32, len(v))
		}
		// A fifth of a unit of noise in all: a cosine of 0.98 to the original.
		deviation := float32(0.2 / math.Sqrt(float64(len(v))))
		var sum float64
		for i, x := range v {
			row[i] = x + deviation*float32(random.NormFloat64())
			sum += float64(row[i]) * float64(row[i])
		}
		length := float32(math.Sqrt(sum))
		for i := range row {
			row[i] /= length
		}
		return row
	}
}

// column files of a set of vectors.
var columnNames = []string{"full", "codes", "scales", "bits"}

// vectorSet is a set of vectors in files, mapped.
type vectorSet struct {
	*vector.Vectors
	full   string // the file with the fp32 rows
	codes  []byte
	mapped [][]byte
}

// write makes a set of rows vectors that each yields.
func (b *bench) write(ctx context.Context, name string, rows, dims int,
	next func() []float32) (_ *vectorSet, err error) {
	dir := filepath.Join(b.work, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	files := make([]*os.File, len(columnNames))
	buffers := make([]*bufio.Writer, len(columnNames))
	for i, column := range columnNames {
		if files[i], err = os.Create(filepath.Join(dir, column)); err != nil {
			return nil, err
		}
		defer files[i].Close()
		buffers[i] = bufio.NewWriterSize(files[i], 1<<20)
	}
	w := vector.NewWriter(dims, vector.Files{Full: buffers[0], Codes: buffers[1], Scales: buffers[2], Bits: buffers[3]})
	for i := range rows {
		if i%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		if err := w.Add(next()); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	set := &vectorSet{full: files[0].Name()}
	for i, buffer := range buffers {
		if err := buffer.Flush(); err != nil {
			return nil, err
		}
		info, err := files[i].Stat()
		if err != nil {
			return nil, err
		}
		data, err := unix.Mmap(int(files[i].Fd()), 0, int(info.Size()), unix.PROT_READ,
			unix.MAP_SHARED|unix.MAP_POPULATE)
		if err != nil {
			return nil, fmt.Errorf("map %s: %w", files[i].Name(), err)
		}
		set.mapped = append(set.mapped, data)
	}
	set.codes = set.mapped[1]
	set.Vectors, err = vector.Open(dims, vector.Columns{Full: set.mapped[0], Codes: set.mapped[1],
		Scales: set.mapped[2],
		Bits:   set.mapped[3]})
	return set, err
}

func (s *vectorSet) close() error {
	var errs []error
	for _, data := range s.mapped {
		errs = append(errs, unix.Munmap(data))
	}
	return errors.Join(errs...)
}

// saveQueries writes queries as peers read them.
func (b *bench) saveQueries(name string, queries [][]float32) (string, error) {
	var data []byte
	for _, q := range queries {
		for _, x := range q {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
		}
	}
	path := filepath.Join(b.work, name)
	return path, os.WriteFile(path, data, 0o644)
}
