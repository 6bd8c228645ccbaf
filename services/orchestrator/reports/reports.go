// Package reports serves reports of evaluations: pages that
// `triplemesh eval report --publish` put into a directory.
//
// A report holds questions and answers, so that only those who may ask may read
// one. A browser that follows a link cannot say who asks; where that must be
// said, the console fetches a report as it fetches all else and shows it in a
// frame (see frame.html). A report runs its own script, and whoever wrote it
// wrote that too: it is in a sandbox, where it can neither ask the mesh nor
// send anything anywhere.
package reports

import (
	_ "embed"
	"encoding/json"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Policy is what a report may do: run what stands in it, and fetch nothing.
const Policy = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; " +
	"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// frame is an empty page that becomes the report which its parent posts to it.
//
//go:embed frame.html
var frame []byte

// door serves the reports of a directory.
type door struct {
	mesh orchestratorv1.OrchestratorServiceClient
	dir  string
}

// New serves the reports in dir at /reports/NAME.html, and a list of them at
// /api/v1/reports, to callers whom the OrchestratorService behind conn lets
// ask. An empty dir, or one that is not there, has no reports.
func New(conn grpc.ClientConnInterface, dir string) http.Handler {
	d := &door{mesh: orchestratorv1.NewOrchestratorServiceClient(conn), dir: dir}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/reports", d.list)
	mux.HandleFunc("GET /reports/frame", serveFrame)
	mux.HandleFunc("GET /reports/{file}", d.report)
	return mux
}

// list lists the reports, newest first.
func (d *door) list(w http.ResponseWriter, r *http.Request) {
	if !d.admit(w, r) {
		return
	}
	reports, err := List(d.dir)
	if err != nil {
		refuse(w, r, http.StatusInternalServerError, codes.Internal, "the directory of reports cannot be read: see orchestrator.http.reports")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string][]Report{"reports": reports}) // to a caller that may be gone
}

// report serves one report.
func (d *door) report(w http.ResponseWriter, r *http.Request) {
	if !d.admit(w, r) {
		return
	}
	file, info, err := open(d.dir, r.PathValue("file"))
	if err != nil {
		refuse(w, r, http.StatusNotFound, codes.NotFound, "there is no such report; /api/v1/reports lists those there are")
		return
	}
	defer file.Close()
	page(w)
	w.Header().Set("Cache-Control", "private, no-cache")
	http.ServeContent(w, r, "", info.ModTime(), file)
}

// serveFrame serves the empty page: it says nothing, so that everybody may
// have it.
func serveFrame(w http.ResponseWriter, _ *http.Request) {
	page(w)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(frame) // to a caller that may be gone
}

// page sets the headers of a page in a sandbox, which a page of the same host
// may frame.
func page(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
}
