package reports

import (
	"encoding/json"
	"net/http"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// admit lets callers pass who may ask, and tells the others why they may not.
// GetQuota is the cheapest call that needs what asking needs.
func (d *door) admit(w http.ResponseWriter, r *http.Request) bool {
	_, err := d.mesh.GetQuota(r.Context(), &orchestratorv1.GetQuotaRequest{})
	if err == nil {
		return true
	}
	s := status.Convert(err)
	switch s.Code() {
	case codes.Unauthenticated:
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "UNAUTHENTICATED", s.Message())
	case codes.PermissionDenied:
		refuse(w, http.StatusForbidden, "PERMISSION_DENIED", s.Message())
	default:
		refuse(w, http.StatusServiceUnavailable, "UNAVAILABLE", "who may read reports cannot be told now: "+s.Message())
	}
	return false
}

// refuse answers with problem details (RFC 9457).
func refuse(w http.ResponseWriter, code int, name, detail string) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{ // to a caller that may be gone
		"type": "about:blank", "title": http.StatusText(code), "status": code, "detail": detail, "code": name,
	})
}
