package bench

import (
	"context"
	"sync"
	"unsafe"
)

// bandwidth reads a buffer once with some goroutines; what it adds up keeps the
// compiler from leaving it out. It is the most that any scan of the buffer can
// reach.
func bandwidth(data []byte, threads int) uint64 {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/8)
	sums := make([]uint64, threads)
	var group sync.WaitGroup
	for t := range threads {
		part := words[t*len(words)/threads : (t+1)*len(words)/threads]
		group.Go(func() { sums[t] = sum(part) })
	}
	group.Wait()
	var all uint64
	for _, s := range sums {
		all += s
	}
	return all
}

// sum adds eight words at a time in four chains, so that loads and not
// additions are what it waits for.
func sum(words []uint64) uint64 {
	var a, b, c, d uint64
	for len(words) >= 8 {
		w := words[:8:8]
		a += w[0] + w[4]
		b += w[1] + w[5]
		c += w[2] + w[6]
		d += w[3] + w[7]
		words = words[8:]
	}
	return a + b + c + d
}

// reading is the contestant that only reads.
func reading(data []byte, threads int) contestant {
	return contestant{name: "reading it once", run: timed(func(context.Context) error {
		bandwidth(data, threads)
		return nil
	})}
}
