package admission

import "time"

const (
	// mostKinds are told apart; all others count as one.
	mostKinds = 64
	// fallShare is by what part of the difference the mean falls with each batch of
	// a kind, and riseShare by what part of itself it rises: what is asked may
	// change for good. It falls by less than all, as the shortest of many batches
	// is short by chance.
	fallShare, riseShare = 0.25, 0.001
	// mostRise is by what part it rises at most while so little is going on that
	// nothing waits for anything.
	mostRise = 0.25
)

// calms are what requests take in calm, by kind: a question by one method takes
// fifteen times what one by another does, and a change of what is asked must not
// look like load.
type calms map[string]*calm

// of is the calm of a kind.
func (c calms) of(kind string) *calm {
	if found := c[kind]; found != nil {
		return found
	}
	if len(c) >= mostKinds {
		kind = ""
	}
	if c[kind] == nil {
		c[kind] = &calm{}
	}
	return c[kind]
}

// calm is what a request of a kind takes on average when little is going on.
type calm struct {
	mean time.Duration // 0 where it is not known yet
	// A batch that is not full yet; quiet says that all of it ran with the least
	// going on.
	requests int
	took     time.Duration
	loud     bool
}

func (c *calm) add(took time.Duration, quiet bool) {
	c.requests++
	c.took += took
	c.loud = c.loud || !quiet
	if c.requests < batch {
		return
	}
	mean := c.took / batch
	switch {
	case c.mean == 0:
		c.mean = mean
	case mean < c.mean:
		c.mean -= time.Duration(fallShare * float64(c.mean-mean))
	case !c.loud:
		c.mean = min(mean, c.mean+time.Duration(mostRise*float64(c.mean)))
	default:
		c.mean += time.Duration(riseShare * float64(c.mean))
	}
	*c = calm{mean: c.mean}
}
