package embedded

import (
	"fmt"

	"github.com/triplemesh/triplemesh/services/retriever/scan"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded/pages"
)

// vectorFiles are the files of triples' vectors, by the columns of a scan.
var vectorFiles = [4]string{scan.Full: vectorsFile, scan.Codes: codesFile, scan.Scales: scalesFile, scan.Bits: bitsFile}

// vectors views n vectors; columns without a name are missing. A search
// compares the checksums of what it reads, in each of its goroutines.
func (v *viewer) vectors(n, dims int, names [4]string) *scan.Vectors {
	var files [4]*pages.File
	var data [4][]byte
	var helds [4]held
	for column, name := range names {
		if name == "" {
			continue
		}
		if files[column] = v.file(name); v.err != nil {
			return nil
		}
		data[column] = files[column].Raw()
		helds[column].data = data[column]
	}
	vectors, err := scan.Open(dims, scan.Columns{
		Full: data[scan.Full], Codes: data[scan.Codes], Scales: data[scan.Scales], Bits: data[scan.Bits],
		Touch: func(column scan.Column, from, to int64) error {
			helds[column].read(from, to)
			return files[column].Touch(from, to)
		},
	})
	if err == nil && vectors.Len() != n {
		err = fmt.Errorf("%s holds %d vectors, want %d: %w", names[scan.Full], vectors.Len(), n, store.ErrCorrupt)
	}
	if v.err == nil {
		v.err = err
	}
	return vectors
}

// vectorWriter writes vectors.
type vectorWriter struct {
	*scan.Writer
	files [4]*output
}

func (b *build) vectorWriter(dims int) (*vectorWriter, error) {
	w := &vectorWriter{}
	for column, name := range vectorFiles {
		var err error
		if w.files[column], err = b.create(name); err != nil {
			return nil, err
		}
	}
	w.Writer = scan.NewWriter(dims, scan.Files{
		Full: w.files[scan.Full], Codes: w.files[scan.Codes], Scales: w.files[scan.Scales], Bits: w.files[scan.Bits],
	})
	return w, nil
}

func (w *vectorWriter) close() error {
	if err := w.Close(); err != nil {
		return err
	}
	for _, f := range w.files {
		if err := f.close(); err != nil {
			return err
		}
	}
	return nil
}
