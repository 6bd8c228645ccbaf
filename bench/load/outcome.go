package load

import (
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/config"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// kind is the outcome of a question.
type kind int

const (
	whole   kind = iota // answered in its time
	partial             // answered in its time with what was found so far
	late                // its time ran out, or the answer came after it
	refused             // turned away: there was too much to do
	failed              // anything else
)

// outcome is the outcome of one question.
type outcome struct {
	kind kind
	took time.Duration // from when it should have been asked
	// code is of those refused and failed; hint says that a refusal told when to
	// come again, byClient that it was the client's own.
	code     codes.Code
	hint     bool
	byClient bool
	// stages are how long those of an answer took.
	stages []stageTime
}

type stageTime struct {
	name string
	took time.Duration
}

// judge returns the outcome of a question.
func judge(run *orchestratorv1.Run, err error, took, timeout time.Duration) outcome {
	o := outcome{took: took, code: status.Code(err), hint: client.HasRetryInfo(err), byClient: client.IsUnsent(err)}
	switch {
	case o.code == codes.ResourceExhausted, o.code == codes.Unavailable && o.hint:
		o.kind = refused
	case o.code == codes.DeadlineExceeded, err == nil && took > timeout:
		o.kind = late
	case err != nil:
		o.kind = failed
	default:
		if o.kind = whole; run.GetPartial() {
			o.kind = partial
		}
		for _, s := range run.GetStages() {
			o.stages = append(o.stages, stageTime{config.EnumName(s.GetStage()), s.GetDuration().AsDuration()})
		}
	}
	return o
}
