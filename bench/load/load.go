// Package load asks a mesh as many callers do who know nothing of each other:
// questions come by a schedule, whether or not those before them are answered,
// and the time of each counts from when it should have been asked. So a mesh
// that stalls is charged for all who would have come in that time (no
// coordinated omission).
package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Ask asks a question.
type Ask func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error)

// Tenant is somebody who asks.
type Tenant struct {
	// Name is shown.
	Name string
	// Weight is the tenant's part of a step's rate, beside those of the others.
	Weight float64
	// Ask asks as this tenant.
	Ask Ask
}

// Step is a stretch of time with one rate.
type Step struct {
	// Name is shown; empty shows the rate.
	Name string
	// Rate is how many questions come, by all tenants together, per second.
	Rate float64
	// Length is how long they come.
	Length time.Duration
}

// Options say who asks what.
type Options struct {
	// Tenants ask; there must be one at least, of a weight above 0.
	Tenants []Tenant
	// Question is the n-th question, from 0.
	Question func(n int) *orchestratorv1.AskRequest
	// Timeout is the time of each question, from when it should be asked.
	Timeout time.Duration
	// MaxInFlight is the most questions under way. Those that would be more are
	// not asked, and counted.
	MaxInFlight int
	// Even lets questions come at even intervals; else at those of a Poisson
	// process, as from many callers.
	Even bool
	// Seed makes the schedule: the same one again for the same seed.
	Seed uint64
	// Tell is told once a second, if it is not nil.
	Tell func(Second)
}

// Validate says which option cannot be.
func (o Options) Validate() error {
	for _, t := range o.Tenants {
		if t.Weight <= 0 || t.Ask == nil {
			return fmt.Errorf("tenant %q: its weight must be above 0, is %g", t.Name, t.Weight)
		}
	}
	switch {
	case len(o.Tenants) == 0:
		return errors.New("no tenants")
	case o.Timeout <= 0:
		return fmt.Errorf("the time of a question must be above 0, is %v", o.Timeout)
	case o.MaxInFlight < 1:
		return fmt.Errorf("the most questions under way must be at least 1, is %d", o.MaxInFlight)
	}
	return nil
}

// runner is one run over some steps.
type runner struct {
	Options
	began    time.Time
	timeline *timeline
	asked    atomic.Int64
	inFlight atomic.Int64
	calls    sync.WaitGroup
}

// Run goes through the steps, one right after the other, waits for the last
// answers, and returns the outcome of the questions, step by step. When ctx ends
// it returns what there is so far with the context's error.
func Run(ctx context.Context, o Options, steps []Step) (*Report, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	for _, s := range steps {
		if s.Rate <= 0 || s.Length <= 0 {
			return nil, fmt.Errorf("a step of %g questions per second for %v: both must be above 0", s.Rate, s.Length)
		}
	}
	r := &runner{Options: o, began: time.Now(), timeline: newTimeline()}
	stop := r.tellAlong()
	var tallies []*stepTally
	at := time.Duration(0)
	for n, s := range steps {
		if ctx.Err() != nil {
			break
		}
		t := newStepTally(s, at, o.Tenants)
		tallies = append(tallies, t)
		r.step(ctx, n, t)
		t.length = min(s.Length, time.Since(r.began)-at)
		at += s.Length
	}
	r.calls.Wait()
	stop()
	report := &Report{Timeout: o.Timeout.Seconds(), Seconds: r.timeline.elapsed(time.Since(r.began))}
	for _, t := range tallies {
		report.Steps = append(report.Steps, t.result(report.Seconds))
	}
	return report, context.Cause(ctx)
}

// step lets the questions of a step come, those of each tenant by a schedule of
// its own.
func (r *runner) step(ctx context.Context, n int, t *stepTally) {
	sum := 0.0
	for _, tenant := range r.Tenants {
		sum += tenant.Weight
	}
	var schedules sync.WaitGroup
	for i, tenant := range r.Tenants {
		s := schedule{rate: t.Rate * tenant.Weight / sum}
		if !r.Even {
			s.random = rand.New(rand.NewPCG(r.Seed, uint64(n)<<32|uint64(i)))
		}
		schedules.Go(func() {
			for at := s.next(); at < t.Length; at = s.next() {
				intended := r.began.Add(t.at + at)
				if !sleepUntil(ctx, intended) {
					return
				}
				r.arrive(ctx, t, i, intended)
			}
			sleepUntil(ctx, r.began.Add(t.at+t.Length))
		})
	}
	schedules.Wait()
}

// sleepUntil returns false where ctx ends before.
func sleepUntil(ctx context.Context, at time.Time) bool {
	left := time.Until(at)
	if left <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// arrive asks a question of a tenant beside the schedule.
func (r *runner) arrive(ctx context.Context, t *stepTally, tenant int, intended time.Time) {
	if r.inFlight.Add(1) > int64(r.MaxInFlight) {
		r.inFlight.Add(-1)
		t.unsent(tenant)
		return
	}
	n := r.asked.Add(1) - 1
	r.calls.Go(func() {
		defer r.inFlight.Add(-1)
		t.countSent(tenant, time.Since(intended))
		r.timeline.countSent(intended.Sub(r.began))
		call, cancel := context.WithDeadline(ctx, intended.Add(r.Timeout))
		defer cancel()
		resp, err := r.Tenants[tenant].Ask(call, r.Question(int(n)))
		took := time.Since(intended)
		if ctx.Err() != nil && err != nil {
			t.cut(tenant) // by the end of the run: that says nothing of the mesh
			return
		}
		o := judge(resp.GetRun(), err, took, r.Timeout)
		t.ended(tenant, o)
		r.timeline.ended(intended.Sub(r.began), o)
	})
}

// tellAlong tells of each second that is over.
func (r *runner) tellAlong() (stop func()) {
	if r.Tell == nil {
		return func() {}
	}
	ended := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		clock := time.NewTicker(time.Second)
		defer clock.Stop()
		for {
			select {
			case <-ended:
				return
			case <-clock.C:
				r.Tell(r.timeline.last(time.Since(r.began)))
			}
		}
	})
	return func() { close(ended); telling.Wait() }
}
