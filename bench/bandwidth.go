package bench

import (
	"context"
	"sync"
	"unsafe"
)

// cacheLine is how many words memory hands over at a time.
const cacheLine = 8

// bandwidth has the whole of a buffer come by once, with some goroutines, and
// returns a sum that keeps the compiler from leaving it out. One word of each
// cache line is read, in four places at a time: memory, not adding, is what it
// waits for. It is the most that any scan of the buffer can reach.
func bandwidth(data []byte, threads int) uint64 {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/8)
	sums := make([]uint64, threads)
	var group sync.WaitGroup
	for t := range threads {
		part := words[t*len(words)/threads : (t+1)*len(words)/threads]
		group.Go(func() { sums[t] = sumLines(part) })
	}
	group.Wait()
	var all uint64
	for _, s := range sums {
		all += s
	}
	return all
}

func sumLines(words []uint64) uint64 {
	quarter := len(words) / 4
	first, second, third, fourth := words[:quarter], words[quarter:2*quarter], words[2*quarter:3*quarter],
		words[3*quarter:4*quarter]
	var a, b, c, d uint64
	for i := 0; i < quarter; i += cacheLine {
		a += first[i]
		b += second[i]
		c += third[i]
		d += fourth[i]
	}
	return a + b + c + d
}

// reading returns the contestant that only reads.
func reading(data []byte, threads int) contestant {
	return contestant{name: "reading it once", run: timed(func(context.Context) error {
		bandwidth(data, threads)
		return nil
	})}
}
