package client

import (
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// outdated tells whether a server is of an older version, which does not have
// the method or the service that was called. Those are gRPC's own words: a server
// that knows a method answers UNIMPLEMENTED by others.
func outdated(err error) bool {
	st := status.Convert(err)
	return st.Code() == codes.Unimplemented &&
		(strings.HasPrefix(st.Message(), "unknown method ") || strings.HasPrefix(st.Message(), "unknown service "))
}

// explain says what an error asks of whom: of the caller, who made a request
// that cannot be encoded, which gRPC calls INTERNAL; of who runs the mesh, where
// a service is too old for what it was called for.
func explain(err error, method string) error {
	if !outdated(err) {
		return encodeStatus(err)
	}
	// /triplemesh.generator.v1.GeneratorService/ExtractClaims
	service, call, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	stage := service
	if parts := strings.Split(service, "."); len(parts) > 1 {
		stage = parts[1]
	}
	st := status.Newf(codes.Unimplemented, "the %s does not know %s: it is of an older version than its caller; upgrade it first", stage, call)
	if with, failed := st.WithDetails(&errdetails.ErrorInfo{
		Domain: "triplemesh", Reason: "STAGE_OUTDATED", Metadata: map[string]string{"stage": stage, "method": method},
	}); failed == nil {
		st = with
	}
	return st.Err()
}
