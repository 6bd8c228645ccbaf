package cli

import (
	"io"
	"time"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/client"
)

const (
	mostLost = 2
	// breath is the pause before an orchestrator is asked once more, and as much
	// more each time.
	breath = 200 * time.Millisecond
)

// hear shows see what an orchestrator streams, until see has what was asked for;
// io.EOF says that it never came. Where the orchestrator is lost in the middle,
// another is asked from the beginning, after again. It may be the same one once
// more where no other is connected yet, so that this is done mostLost times.
func hear[E any](ask func() (grpc.ServerStreamingClient[E], error), see func(*E) (done bool, err error), again func()) error {
	for lost := 0; ; {
		stream, err := ask()
		if err != nil {
			return err
		}
		begun := false
		for err == nil {
			var event *E
			if event, err = stream.Recv(); err != nil {
				break
			}
			begun = true
			done, err := see(event)
			if done || err != nil {
				return err
			}
		}
		if lost == mostLost || !begun || err == io.EOF || !client.Lost(err) {
			return err
		}
		lost++
		time.Sleep(time.Duration(lost) * breath)
		again()
	}
}
