package web

import (
	"net/http"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/triplemesh/triplemesh/internal/server"
)

// carryCaller sends the caller's token and address along with the calls that
// are made for the request. Nothing else of a header becomes metadata: who they
// are is in their token alone.
func carryCaller(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := server.For(r.Context(), r.RemoteAddr)
		for _, value := range r.Header.Values("Authorization") {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", sendable(value))
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// sendable is a header's value as metadata can have it. What it cannot have is
// no token either, and is refused as that.
func sendable(value string) string {
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "unprintable"
	}
	return value
}
