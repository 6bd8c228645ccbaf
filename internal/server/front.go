package server

import "context"

// Front is a server of another protocol before this one, which it calls by
// Local. The two go up and down together.
type Front interface {
	// Listen takes the port, so that an error is known before anything serves.
	Listen() error
	// Serve serves until Shutdown or Close, and returns nil after them.
	Serve() error
	// Shutdown takes nothing new, and returns when nothing is under way, or when
	// ctx ends.
	Shutdown(ctx context.Context)
	// Close cuts what is still under way, once it had a moment to say so.
	Close() error
}

// Before puts a server in front of this one. Call it before Serve.
func (s *Server) Before(f Front) { s.front = f }

// noFront is in front of a server that answers gRPC alone.
type noFront chan struct{}

func (noFront) Listen() error            { return nil }
func (f noFront) Serve() error           { <-f; return nil }
func (noFront) Shutdown(context.Context) {}
func (f noFront) Close() error           { close(f); return nil }
