package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// advice is an error that says already what to do next.
type advice string

func (a advice) Error() string { return string(a) }

// explain turns an error of the mesh into one that a model can act on: what is
// wrong, and what to do next.
func (d *door) explain(ctx context.Context, err error) error {
	if said := advice(""); errors.As(err, &said) {
		return said
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	st := status.Convert(err)
	text := clean(st.Message())
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				if !strings.Contains(text, v.GetDescription()) {
					text += fmt.Sprintf("; %s: %s", v.GetField(), v.GetDescription())
				}
			}
		case *errdetails.RetryInfo:
			text += fmt.Sprintf("; try again in %v", d.GetRetryDelay().AsDuration())
		}
	}
	if next := d.next(ctx, st.Code()); next != "" {
		text += ". " + next
	}
	return advice(text)
}

// next is what to do about a code.
func (d *door) next(ctx context.Context, code codes.Code) string {
	switch code {
	case codes.InvalidArgument:
		return "Change the arguments and call again."
	case codes.NotFound:
		if names, err := d.names(ctx); err == nil && len(names) > 0 {
			return "The knowledge graphs are " + strings.Join(names, ", ") + "; entities are known by one spelling, which the tool link finds."
		}
		return "The tool graphs lists the knowledge graphs."
	case codes.FailedPrecondition:
		return "Tell the user what is missing; the tool graphs shows which knowledge graphs are loaded and active."
	case codes.Unauthenticated:
		return "Tell the user that the mesh asks who calls: they give this server a token (triplemesh mcp --token-file FILE, or the header Authorization: Bearer TOKEN over HTTP)."
	case codes.PermissionDenied:
		return "Tell the user that their token does not allow this: whoever runs the mesh can give it the scope."
	case codes.ResourceExhausted:
		return "Ask for less, raise max_model_calls where it was set, or wait."
	case codes.DeadlineExceeded:
		return "Ask for less at a time, or try a quicker tool: search and neighbours call no model."
	case codes.Unavailable:
		return "Try again in a moment; if it stays so, tell the user to run: triplemesh doctor"
	case codes.Unimplemented:
		return "The mesh is too old for this tool: tell the user to upgrade it, or use another tool."
	}
	return ""
}
