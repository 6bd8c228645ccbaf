package load

import "time"

// Phase is a part of a load.
type Phase int

const (
	// Read takes statements from files.
	Read Phase = iota + 1
	// Sort puts names and triples in order.
	Sort
	// Encode makes vectors.
	Encode
	// Write writes the snapshot.
	Write
)

// Progress is how far a load has come.
type Progress struct {
	Phase Phase
	// Done counts the statements, triples or vectors that this phase is done
	// with; Total is of how many, 0 where that is not known.
	Done, Total uint64
	// Lines of the files that were read to their end.
	Lines uint64
	// Encoded of Triples have their vectors; both are 0 before.
	Encoded, Triples int
	// Rate is triples encoded per second.
	Rate float64
}

// progressStatements is how many statements are read between two calls of
// Progress.
const progressStatements = 1 << 16

func (l *Loader) tell(p Progress) {
	if l.options.Progress != nil {
		p.Lines = l.report.Lines
		l.options.Progress(p)
	}
}

func (l *Loader) sorting(done, total int) {
	l.tell(Progress{Phase: Sort, Done: uint64(done), Total: uint64(total)})
}

func (l *Loader) encoding() func(done, total int) {
	start := time.Now()
	return func(done, total int) {
		l.tell(Progress{
			Phase: Encode, Done: uint64(done), Total: uint64(total), Encoded: done, Triples: total,
			Rate: float64(done) / max(time.Since(start).Seconds(), 1e-9),
		})
	}
}
