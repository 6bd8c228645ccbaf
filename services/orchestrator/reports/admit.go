package reports

import (
	"net/http"

	"google.golang.org/grpc/codes"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/problem"
)

// admit lets callers pass who may ask, and tells the others why they may not.
// GetQuota is the cheapest call that needs what asking needs.
func (d *door) admit(w http.ResponseWriter, r *http.Request) bool {
	if _, err := d.mesh.GetQuota(r.Context(), &orchestratorv1.GetQuotaRequest{}); err != nil {
		problem.Write(w, r, problem.Of(err))
		return false
	}
	return true
}

// refuse answers a request that was let pass with a problem of this door's own.
func refuse(w http.ResponseWriter, r *http.Request, status int, code codes.Code, detail string) {
	problem.Write(w, r, problem.New(status, code, detail))
}
