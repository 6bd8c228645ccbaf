// Package reports serves reports of evaluations: pages that
// `triplemesh eval report --publish` put into a directory.
//
// A report holds questions and answers, so that only those who may ask may read one. A browser that
// follows a link cannot say who asks; where that must be said, the console fetches a report as it
// fetches all else and shows it in a frame (see frame.html). A report runs its own script, and the
// caller who wrote it wrote that too: it is in a sandbox, where it can neither ask the mesh nor
// send anything anywhere.
package reports

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/problem"
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
		refuse(w, r, http.StatusInternalServerError, codes.Internal,
			"the directory of reports cannot be read: see orchestrator.http.reports")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string][]Report{"reports": reports}) // to a caller that may be gone
}

func (d *door) report(w http.ResponseWriter, r *http.Request) {
	if !d.admit(w, r) {
		return
	}
	file, info, err := open(d.dir, r.PathValue("file"))
	if err != nil {
		refuse(w, r, http.StatusNotFound, codes.NotFound,
			"there is no such report; /api/v1/reports lists those there are")
		return
	}
	defer file.Close()
	page(w)
	w.Header().Set("Cache-Control", "private, no-cache")
	http.ServeContent(w, r, "", info.ModTime(), file)
}

// serveFrame serves the empty page: it says nothing, so that everybody may have it.
func serveFrame(w http.ResponseWriter, _ *http.Request) {
	page(w)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(frame) // to a caller that may be gone
}

// page sets the headers of a page in a sandbox, which a page of the same host may frame.
func page(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
}

// admit checks that the caller has the scope ask, and else responds with the error.
// GetQuota is the cheapest call that needs what asking needs.
func (d *door) admit(w http.ResponseWriter, r *http.Request) bool {
	if _, err := d.mesh.GetQuota(r.Context(), &orchestratorv1.GetQuotaRequest{}); err != nil {
		problem.Write(w, r, problem.FromError(err))
		return false
	}
	return true
}

// refuse responds to an admitted request with a problem.
func refuse(w http.ResponseWriter, r *http.Request, status int, code codes.Code, detail string) {
	problem.Write(w, r, problem.New(status, code, detail))
}

// Report is one listed report.
type Report struct {
	// Name is the file name without ".html".
	Name string `json:"name"`
	// Title of the page; Name if it has none.
	Title string `json:"title"`
	// Created is the modification time of the file.
	Created time.Time `json:"created"`
	// Bytes is the file size.
	Bytes int64 `json:"bytes"`
}

// Ending is the file extension of reports.
const Ending = ".html"

// head is how many bytes of a page are searched for its title.
const head = 1 << 16

// nameable matches valid report names: they are parts of paths and of URLs.
var nameable = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// CheckName returns an error for an invalid report name.
func CheckName(name string) error {
	if !nameable.MatchString(name) {
		return fmt.Errorf("a report cannot be named %q: take up to 100 letters, digits, dots, hyphens and "+
			"underscores, a letter or digit first", name)
	}
	return nil
}

// List lists the reports in a directory, newest first; none if it is empty or does not exist.
func List(dir string) ([]Report, error) {
	reports := []Report{}
	if dir == "" {
		return reports, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return reports, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the reports: %w", err)
	}
	for _, e := range entries {
		file, info, err := open(dir, e.Name())
		if err != nil {
			continue // not a report, or gone since
		}
		name := strings.TrimSuffix(e.Name(), Ending)
		reports = append(reports, Report{
			Name: name, Title: cmp.Or(title(file), name),
			Created: info.ModTime().UTC(), Bytes: info.Size(),
		})
		file.Close()
	}
	slices.SortStableFunc(reports, func(a, b Report) int { return b.Created.Compare(a.Created) })
	return reports, nil
}

// open opens a report. Files outside the directory, also by symbolic links, are not found.
func open(dir, file string) (*os.File, fs.FileInfo, error) {
	name, ok := strings.CutSuffix(file, Ending)
	if !ok || !nameable.MatchString(name) || dir == "" {
		return nil, nil, fs.ErrNotExist
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	info, err := root.Stat(file)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fs.ErrNotExist
	}
	f, err := root.Open(file)
	return f, info, err
}

// titled finds the title of a page.
var titled = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// title returns the title of a page as text; empty if its head has none.
func title(page io.Reader) string {
	top, err := io.ReadAll(io.LimitReader(page, head))
	if err != nil {
		return ""
	}
	found := titled.FindSubmatch(top)
	if found == nil {
		return ""
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(html.UnescapeString(string(found[1])), "")), " ")
}
