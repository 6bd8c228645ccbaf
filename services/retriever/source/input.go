package source

import "io"

// Input is a file as a reader of its format takes it.
type Input struct {
	// Name is for messages.
	Name string
	// Reader gives the file's bytes, unpacked.
	Reader io.Reader
	// Number is the file's place in its load, from 1. It keeps the blank nodes
	// of one file from those of another.
	Number int
	// Language is that of labels, a tag as in BCP 47; empty takes "en".
	Language string
	// Start is where Reader begins, of a file that was read so far before.
	Start Mark
	// Mark is told now and then how far the file was handed to the sink, by
	// readers that can start there another time; nil for no one. An error of it
	// ends the reading.
	Mark func(Mark) error
	// Bad is told of each place that holds no statement. An error of it ends
	// the reading. Without it the first such place ends the reading.
	Bad func(*PlaceError) error
}

// Mark is a place between two lines of an unpacked file: as many bytes and lines
// are before it.
type Mark struct {
	Bytes int64
	Lines uint64
}

// Reject hands a place to Bad.
func (in Input) Reject(e *PlaceError) error {
	if in.Bad == nil {
		return e
	}
	return in.Bad(e)
}
