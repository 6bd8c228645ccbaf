package vector

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"
)

func benchKernels(b *testing.B, bytes int64, run func(k kernels)) {
	for _, k := range availableKernels(384) {
		b.Run(k.name, func(b *testing.B) {
			b.SetBytes(bytes)
			for b.Loop() {
				run(k)
			}
		})
	}
}

func BenchmarkProducts(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	rows, queries := randomVector(r, 2*384), randomVector(r, group*384)
	var out [2 * group]float32
	benchKernels(b, 2*384*4, func(k kernels) { k.products(&rows[0], &rows[384], &queries[0], 384, &out) })
}

func BenchmarkDots(b *testing.B) {
	rows, queries := make([]byte, blockRows*384), make([]int8, group*384)
	var out [group][blockRows]int32
	benchKernels(b, blockRows*384, func(k kernels) { k.dots(&rows[0], blockRows, 384, &queries[0], &out) })
}

func BenchmarkDot(b *testing.B) {
	rows, query := make([]byte, blockRows*384), make([]int8, 384)
	var out [blockRows]int32
	benchKernels(b, blockRows*384, func(k kernels) {
		if k.dot != nil {
			k.dot(&rows[0], blockRows, 384, &query[0], &out)
		}
	})
}

func BenchmarkLookups(b *testing.B) {
	block, table := make([]byte, blockBytes(384)), make([]byte, bitColumns(384)*32)
	var out [blockRows]int32
	benchKernels(b, int64(bitColumns(384)*blockRows),
		func(k kernels) { k.lookups(&block[0], bitColumns(384), &table[0], &out) })
}

func BenchmarkAbove(b *testing.B) {
	var values [blockRows]int32
	var factors [blockRows]float32
	benchKernels(b, blockRows*8, func(k kernels) { k.above(&values, &factors, 1, 1) })
}

func BenchmarkWriter(b *testing.B) {
	r := rand.New(rand.NewPCG(2, 1))
	v := unit(randomVector(r, 384))
	w := NewWriter(384, Files{io.Discard, io.Discard, io.Discard, io.Discard})
	for b.Loop() {
		if err := w.Add(v); err != nil {
			b.Fatal(err)
		}
	}
}

// The cost of a query before a search reads a row.
func BenchmarkQuery(b *testing.B) {
	query := unit(randomVector(rand.New(rand.NewPCG(2, 1)), 384))
	b.Run("codes", func(b *testing.B) {
		for b.Loop() {
			newCodedGroup([][]float32{query})
		}
	})
	b.Run("bits", func(b *testing.B) {
		rotation := newRotation(384)
		for b.Loop() {
			newBitQuery(query, rotation)
		}
	})
}

// Bytes are those of the column that is read in full.
func BenchmarkSearch(b *testing.B) {
	const dims, n = 384, 50000
	r := rand.New(rand.NewPCG(3, 1))
	rows := facts(r, n, dims)
	queries := questions(r, rows, 10)
	columns := writeColumns(b, dims, rows)
	v, err := Open(dims, columns)
	if err != nil {
		b.Fatal(err)
	}
	for _, method := range []struct {
		name   string
		method Method
		column []byte
	}{{"full", ByFull, columns.Full}, {"codes", ByCodes, columns.Codes}, {"bits", ByBits, columns.Bits}} {
		for _, q := range []int{1, 10} {
			b.Run(fmt.Sprintf("%s, queries=%d", method.name, q), func(b *testing.B) {
				b.SetBytes(int64(len(method.column)))
				for b.Loop() {
					if _, err := v.Search(context.Background(), queries[:q], 10,
						Options{Method: method.method}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	// A lower bound of a search's time.
	b.Run("reading the codes", func(b *testing.B) {
		b.SetBytes(int64(len(columns.Codes)))
		for b.Loop() {
			sum(columns.Codes, runtime.GOMAXPROCS(0))
		}
	})
}

// sum reads bytes as fast as plain loads can.
func sum(data []byte, workers int) uint64 {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&data[0])), len(data)/8)
	sums := make(chan uint64)
	for w := range workers {
		go func() {
			part := words[len(words)/workers*w : len(words)/workers*(w+1)]
			var a, b, c, d uint64
			for len(part) >= 8 {
				a, b, c, d = a+part[0]+part[4], b+part[1]+part[5], c+part[2]+part[6], d+part[3]+part[7]
				part = part[8:]
			}
			sums <- a + b + c + d
		}()
	}
	var all uint64
	for range workers {
		all += <-sums
	}
	return all
}
