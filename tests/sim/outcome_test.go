package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// slack is how long after its deadline a call may end.
const slack = 50 * time.Millisecond

// Ends of a question besides a status.
const (
	whole   = "whole"
	partial = "partial"
)

// end returns how a question ended, and every violated invariant.
func (o outcome) end(p plan) (end string, wrong []string) {
	violate := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%s: %s", o.question, fmt.Sprintf(format, args...)))
	}
	if o.took > o.within+slack {
		violate("it ended after %v and had %v", o.took, o.within)
	}
	if o.err != nil {
		st := status.Convert(o.err)
		end = code.Code(st.Code()).String()
		allowed := []codes.Code{codes.Unavailable, codes.DeadlineExceeded}
		allowed = append(allowed, p.kind.codes...)
		if o.leaves > 0 {
			allowed = append(allowed, codes.Canceled)
		}
		if !slices.Contains(allowed, st.Code()) || st.Message() == "" {
			violate("it ended with %v", o.err)
		}
		if st.Code() == codes.ResourceExhausted && p.kind.narrow && !slices.ContainsFunc(st.Details(),
			func(d any) bool { _, ok := d.(*errdetails.RetryInfo); return ok }) {
			violate("it was refused without a word of when to come again: %v", o.err)
		}
	} else {
		end, wrong = o.completeness(), append(wrong, o.check()...)
	}
	if end != whole && o.promised(p) {
		violate("LOST: it should have been answered wholly, and ended as %s: %v %s", end, o.err,
			o.run.GetGroundingReason())
	}
	return end, wrong
}

// completeness classifies an answer as whole, meaning the answer without faults within the same
// budget, or partial.
func (o outcome) completeness() string {
	if proto.Equal(withoutVolatile(o.run), shared.expected[o.key(o.run.GetKg().GetSnapshot())]) {
		return whole
	}
	return partial
}

// check checks the invariants of an answer.
func (o outcome) check() (wrong []string) {
	violate := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%s: %s", o.question, fmt.Sprintf(format, args...)))
	}
	run := o.run
	if run.GetQuestion() != o.request().GetQuestion() || run.GetMethod() != o.method {
		violate("another question was answered: %q by %s", run.GetQuestion(), run.GetMethod())
	}
	if run.GetPartial() && run.GetGroundingReason() == "" {
		violate("a partial answer that does not say why: %v", run)
	}
	if o.completeness() == partial && !run.GetPartial() && !warned(run) {
		violate("a wrong answer has no warning: %v, want %v", withoutVolatile(run),
			shared.expected[o.key(run.GetKg().GetSnapshot())])
	}
	if o.calls > 0 && run.GetUsage().GetCalls() > o.calls {
		violate("%d calls were spent", run.GetUsage().GetCalls())
	}
	if o.streamed && o.completeness() == whole && o.text != "" && o.text != run.GetText() {
		violate("%q was streamed of %q", o.text, run.GetText())
	}
	text := run.String()
	for _, p := range people {
		for _, names := range [][2]string{p.employer, p.study} {
			for i, name := range names {
				if uint64(i+1) != run.GetKg().GetSnapshot() && strings.Contains(text, name) {
					violate("a run on snapshot %d contains %s", run.GetKg().GetSnapshot(), name)
				}
				if p != o.about && (strings.Contains(run.GetText(), name)) {
					violate("the answer contains %s", name)
				}
			}
		}
	}
	return wrong
}

// promised reports whether a question must get a complete answer.
func (o outcome) promised(p plan) bool {
	if o.within < 20*time.Second || o.leaves > 0 || p.kind.narrow {
		return false
	}
	for _, f := range p.faults {
		switch {
		case f.harmless:
		case p.replicas == 1:
			return false
		case o.calls > 0 && stageOf(f.place) == modelServer:
			return false // useless answers count against the budget
		case o.streamed && stageOf(f.place) == "orchestrator":
			return false // the stream to the caller breaks
		}
	}
	return true
}

// warned reports whether an answer has warnings.
func warned(run *orchestratorv1.Run) bool {
	return slices.ContainsFunc(run.GetStages(),
		func(s *orchestratorv1.StageReport) bool { return len(s.GetWarnings()) > 0 })
}

// withoutVolatile returns a run without the fields that differ between runs.
func withoutVolatile(run *orchestratorv1.Run) *orchestratorv1.Run {
	run = proto.CloneOf(run)
	run.Id, run.TraceId, run.StartTime, run.Duration, run.Usage, run.Stages = "", "", nil, nil, nil, nil
	return run
}

// key identifies what the answer to a question depends on.
func (q question) key(snapshot uint64) string {
	return fmt.Sprint(q.method, q.about.name, q.calls, snapshot)
}
