// Package errinfo writes and reads the reason of an error: the ErrorInfo of a
// gRPC status, with a value of the contract's ErrorReason.
package errinfo

import (
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
)

// Domain is that of every ErrorInfo of the mesh.
const Domain = "triplemesh"

const prefix = "ERROR_REASON_"

// Name returns a reason as an ErrorInfo has it: "KG_NOT_FOUND".
func Name(reason errorsv1.ErrorReason) string { return strings.TrimPrefix(reason.String(), prefix) }

// New returns the ErrorInfo of a reason.
func New(reason errorsv1.ErrorReason, metadata map[string]string) *errdetails.ErrorInfo {
	return &errdetails.ErrorInfo{Domain: Domain, Reason: Name(reason), Metadata: metadata}
}

// Reason returns why a call failed; unspecified if the error does not say.
func Reason(err error) errorsv1.ErrorReason {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return errorsv1.ErrorReason(errorsv1.ErrorReason_value[prefix+info.GetReason()])
		}
	}
	return errorsv1.ErrorReason_ERROR_REASON_UNSPECIFIED
}
