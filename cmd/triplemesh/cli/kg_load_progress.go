package cli

import (
	"github.com/triplemesh/triplemesh/cmd/triplemesh/progress"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// loadProgress shows how far a load has come, a task for each phase.
type loadProgress struct {
	name  string
	board *progress.Board
	phase retrieverv1.LoadPhase
	task  *progress.Task
}

var phases = map[retrieverv1.LoadPhase]struct {
	what string
	unit progress.Unit
}{
	retrieverv1.LoadPhase_LOAD_PHASE_READ:   {"reading", "triples"},
	retrieverv1.LoadPhase_LOAD_PHASE_SORT:   {"putting in order", "triples"},
	retrieverv1.LoadPhase_LOAD_PHASE_ENCODE: {"encoding", "triples"},
	retrieverv1.LoadPhase_LOAD_PHASE_WRITE:  {"writing", "triples"},
}

func (l *loadProgress) show(p *retrieverv1.LoadProgress) {
	phase, known := phases[p.GetPhase()]
	if !known {
		return
	}
	total := int64(p.GetTotal())
	if p.GetPhase() == retrieverv1.LoadPhase_LOAD_PHASE_WRITE {
		total = 0 // of writing nothing is heard but that it began
	}
	if p.GetPhase() != l.phase {
		l.end()
		l.phase = p.GetPhase()
		l.task = l.board.Start(l.name+": "+phase.what, phase.unit, total)
		l.task.Resume(int64(p.GetDone()))
		return
	}
	l.task.SetOf(int64(p.GetDone()), total)
}

// end takes the bar away.
func (l *loadProgress) end() {
	if l.task != nil {
		l.task.Stop()
	}
}
