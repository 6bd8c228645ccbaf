package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// advice is an error as the user is told it. A gRPC error loses its wrapping
// and gains what to do next, unless its message says that already.
func advice(err error) string {
	// Not status.FromError, which puts the text of every wrapper around the
	// message.
	var answer interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &answer) || answer.GRPCStatus().Code() == codes.Unknown {
		return err.Error()
	}
	st := answer.GRPCStatus()
	text := strings.TrimSpace(st.Message())
	for _, d := range st.Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok {
			for _, v := range bad.GetFieldViolations() {
				if strings.Contains(text, v.GetDescription()) {
					continue
				}
				text += fmt.Sprintf("\n  %s: %s", v.GetField(), v.GetDescription())
			}
		}
	}
	text = suggested(text)
	if reason := reasonOf(st); strings.HasPrefix(reason, "MODEL_") {
		return text + "\n`triplemesh doctor` asks the model endpoint what it has and what it can do"
	}
	if st.Code() == codes.DataLoss && strings.HasPrefix(text, "import ") {
		return text + "\nthe file is damaged: copy it or `triplemesh kg export` it again"
	}
	if strings.Contains(text, "by encoder") {
		return text + "\n`triplemesh doctor` shows which knowledge graphs the encoder fits"
	}
	if todo := next(st.Code()); todo != "" && !strings.Contains(text, "triplemesh ") {
		text += "\n" + todo
	}
	return text
}

// unknown is how services say that something is not there, with what is.
var unknown = regexp.MustCompile(`there is no [a-z ]+ "([^"\n]+)"; there are: ([^\n]+)`)

// suggested adds the nearest of the names there are.
func suggested(text string) string {
	m := unknown.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	return text + didYouMean(m[1], strings.Split(m[2], ", "))
}

// reasonOf is the reason that a service gives programs; empty where it gives
// none.
func reasonOf(st *status.Status) string {
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// next is what to do about a code.
func next(c codes.Code) string {
	switch c {
	case codes.NotFound:
		return "`triplemesh kg list` shows what there is; `triplemesh kg load NAME FILE` loads a knowledge graph"
	case codes.FailedPrecondition:
		return "`triplemesh kg list` shows which snapshots there are; `triplemesh kg activate NAME@N` makes one active"
	case codes.Unavailable:
		return "`triplemesh doctor` shows which part is not there"
	case codes.ResourceExhausted:
		return "give it a larger budget (--max-calls, --max-tokens), or ask again when the services have less to do"
	case codes.DeadlineExceeded:
		return "give it more time with --timeout"
	case codes.DataLoss:
		return "the snapshot is damaged: `triplemesh kg rollback NAME` goes back to the one before, `triplemesh kg load` builds it anew"
	case codes.Unimplemented:
		return "the server is another version or another service: `triplemesh doctor` shows what answers where"
	case codes.Internal:
		return "this is a fault of triplemesh: please report it, with the log of `triplemesh up`"
	}
	return ""
}
