package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// PackSize is how many views are compressed together. A page takes a whole pack
// apart to show one of its views.
const PackSize = 40

// Packer compresses views as they come, so that only what is compressed stays in
// memory.
type Packer struct {
	packs   []string
	pending [][]byte
	zip     *gzip.Writer
}

// Place is where a view is: the number of its pack and its place in it, both
// from 0.
type Place struct{ Pack, Index int }

// Add takes a view in and says where it is.
func (p *Packer) Add(v View) (Place, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return Place{}, fmt.Errorf("write the details of a run: %w", err)
	}
	place := Place{len(p.packs), len(p.pending)}
	p.pending = append(p.pending, text)
	if len(p.pending) == PackSize {
		err = p.flush()
	}
	return place, err
}

// Packs returns all packs: JSON arrays of views, compressed by gzip, in base64. None
// of its letters means anything to HTML.
func (p *Packer) Packs() ([]string, error) {
	if len(p.pending) > 0 {
		if err := p.flush(); err != nil {
			return nil, err
		}
	}
	return p.packs, nil
}

func (p *Packer) flush() error {
	var out bytes.Buffer
	if p.zip == nil {
		p.zip, _ = gzip.NewWriterLevel(nil, 6)
	}
	p.zip.Reset(&out)
	array := append(append([]byte("["), bytes.Join(p.pending, []byte(","))...), ']')
	if _, err := p.zip.Write(array); err != nil {
		return fmt.Errorf("compress the details of runs: %w", err)
	}
	if err := p.zip.Close(); err != nil {
		return fmt.Errorf("compress the details of runs: %w", err)
	}
	p.packs = append(p.packs, base64.StdEncoding.EncodeToString(out.Bytes()))
	p.pending = p.pending[:0]
	return nil
}
