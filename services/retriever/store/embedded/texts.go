package embedded

import (
	"context"
	"math"
	"unsafe"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// texts is a list of strings in one run of bytes: string i lies between
// offsets i and i+1. A file of offsets stands beside that of the bytes.
type texts struct {
	bytes   *pageFile
	offsets packedColumn
	n       int
}

func offsetsFile(name string) string { return name + ".offsets" }

// view returns string i without copying; it must not outlive the mapping.
func (t *texts) view(i int) string {
	b := t.bytes.Bytes(int(t.offsets.Get(i)), int(t.offsets.Get(i+1)))
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// get returns a copy of string i.
func (t *texts) get(i int) string {
	return string(t.bytes.Bytes(int(t.offsets.Get(i)), int(t.offsets.Get(i+1))))
}

// find returns the index of text in a list in byte order.
func (t *texts) find(text string) (int, bool) {
	low, high := 0, t.n
	for low < high {
		middle := int(uint(low+high) >> 1)
		if t.view(middle) < text {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < t.n && t.view(low) == text
}

// forEach returns all strings; they must not outlive the mapping.
func (t *texts) forEach(ctx context.Context, emit func(i int, text string) error) error {
	for i := range t.n {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := emit(i, t.view(i)); err != nil {
			return err
		}
	}
	return nil
}

// textWriter writes texts. It holds their lengths, so that the offsets can be
// packed when the last one is known.
type textWriter struct {
	folder  *folder
	out     *output
	lengths []uint32
	end     uint64
}

func (f *folder) texts(name string) (*textWriter, error) {
	out, err := f.create(name)
	if err != nil {
		return nil, err
	}
	return &textWriter{folder: f, out: out}, nil
}

func (w *textWriter) add(text string) error {
	if uint64(len(text)) > math.MaxUint32 {
		return store.Invalidf("a text of %d bytes", len(text))
	}
	w.lengths = append(w.lengths, uint32(len(text)))
	w.end += uint64(len(text))
	_, err := w.out.WriteString(text)
	return err
}

func (w *textWriter) close() error {
	if err := w.out.close(); err != nil {
		return err
	}
	c, err := w.folder.column(offsetsFile(w.out.name), bitWidth(w.end))
	if err != nil {
		return err
	}
	var at uint64
	for _, n := range w.lengths {
		if err := c.Add(at); err != nil {
			return err
		}
		at += uint64(n)
	}
	if err := c.Add(at); err != nil {
		return err
	}
	return c.close()
}

// optionalTexts writes texts most of which may be missing. If all are there is no file.
type optionalTexts struct {
	folder *folder
	name   string
	texts  *textWriter
	n      int // texts so far
	filled int // those that are not empty
}

func (o *optionalTexts) add(text string) (err error) {
	if text == "" && o.texts == nil {
		o.n++
		return nil
	}
	if o.texts == nil {
		if o.texts, err = o.folder.texts(o.name); err != nil {
			return err
		}
		o.texts.lengths = make([]uint32, o.n)
	}
	o.n++
	if text != "" {
		o.filled++
	}
	return o.texts.add(text)
}

func (o *optionalTexts) close() error {
	if o.texts == nil {
		return nil
	}
	return o.texts.close()
}

// writeTexts writes strings held in memory.
func writeTexts(f *folder, name string, values []string) error {
	w, err := f.texts(name)
	if err != nil {
		return err
	}
	for _, v := range values {
		if err := w.add(v); err != nil {
			return err
		}
	}
	return w.close()
}
