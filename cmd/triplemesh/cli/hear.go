package cli

import (
	"io"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/client"
)

// hear shows see what an orchestrator streams, until see has what was asked for;
// io.EOF says that it never came. Where the orchestrator is lost in the middle,
// another is asked from the beginning, once, after again.
func hear[E any](ask func() (grpc.ServerStreamingClient[E], error), see func(*E) (done bool, err error), again func()) error {
	for lost := false; ; {
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
		if lost || !begun || err == io.EOF || !client.Lost(err) {
			return err
		}
		lost = true
		again()
	}
}
