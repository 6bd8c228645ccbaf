package client

import "sync"

// How many calls may leave a replica for another: a burst, such as all that were
// under way at one that hangs, and then one for each ten that are answered. When
// all replicas are slow, calls that go from one to the next are a tenth at most
// of what there is to do.
const (
	mostLeaves = 100
	leaveShare = .1
)

// allowance bounds how often calls leave a replica.
type allowance struct {
	mu   sync.Mutex
	left float64
}

func newAllowance() *allowance { return &allowance{left: mostLeaves} }

// take tells whether there is one left, and takes it.
func (a *allowance) take() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left < 1 {
		return false
	}
	a.left--
	return true
}

// earn counts a call that was answered.
func (a *allowance) earn() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = min(a.left+leaveShare, mostLeaves)
}
