package reports

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// porter answers GetQuota as it is told to.
type porter struct {
	orchestratorv1.UnimplementedOrchestratorServiceServer
	err error
}

func (p porter) GetQuota(context.Context, *orchestratorv1.GetQuotaRequest) (*orchestratorv1.GetQuotaResponse, error) {
	return &orchestratorv1.GetQuotaResponse{}, p.err
}

// behind is a connection to a mesh that answers callers with err.
func serveBehind(t *testing.T, err error) grpc.ClientConnInterface {
	t.Helper()
	l := bufconn.Listen(1 << 16)
	s := grpc.NewServer()
	orchestratorv1.RegisterOrchestratorServiceServer(s, porter{err: err})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	conn, dialled := grpc.NewClient("passthrough:///mesh", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if dialled != nil {
		t.Fatal(dialled)
	}
	t.Cleanup(func() {
		conn.Close()
		s.Stop()
		if err := <-served; err != nil {
			t.Errorf("the mesh ended with: %v", err)
		}
	})
	return conn
}

func get(t *testing.T, h http.Handler, method, path string) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	resp := w.Result()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

func TestReportsAreServed(t *testing.T) {
	h := New(serveBehind(t, nil), shelf(t))
	tests := []struct {
		name, method, path string
		status             int
		has                string
	}{
		{"a report", "GET", "/reports/first.html", 200, "first"},
		{"its head", "HEAD", "/reports/first.html", 200, ""},
		{"the frame", "GET", "/reports/frame", 200, "addEventListener"},
		{"one that is not there", "GET", "/reports/third.html", 404, "/api/v1/reports"},
		{"one without its ending", "GET", "/reports/first", 404, "NOT_FOUND"},
		{"a file that is no report", "GET", "/reports/notes.txt", 404, "NOT_FOUND"},
		{"a hidden file", "GET", "/reports/.hidden.html", 404, "NOT_FOUND"},
		{"half a file", "GET", "/reports/.first.html.part-1", 404, "NOT_FOUND"},
		{"a folder", "GET", "/reports/folder.html", 404, "NOT_FOUND"},
		{"a pipe, which nobody writes to", "GET", "/reports/pipe.html", 404, "NOT_FOUND"},
		{"a link out of the directory", "GET", "/reports/out.html", 404, "NOT_FOUND"},
		{"a rooted link out of the directory", "GET", "/reports/rooted.html", 404, "NOT_FOUND"},
		{"a link to nothing", "GET", "/reports/gone.html", 404, "NOT_FOUND"},
		{"a path out of the directory, in other letters", "GET", "/reports/..%2fsecret.html", 404, "NOT_FOUND"},
		{"a path out of the directory, in Windows' letters", "GET", "/reports/..%5csecret.html", 404, "NOT_FOUND"},
		{"a rooted path", "GET", "/reports/%2fetc%2fpasswd.html", 404, "NOT_FOUND"},
		{"a name with a zero byte", "GET", "/reports/first.html%00.html", 404, "NOT_FOUND"},
		{"the directory itself", "GET", "/reports/", 404, ""},
		{"a report cannot be written", "PUT", "/reports/first.html", 405, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp, text := get(t, h, test.method, test.path)
			if resp.StatusCode != test.status || !strings.Contains(text, test.has) {
				t.Errorf("got %d %q, want %d with %q", resp.StatusCode, text, test.status, test.has)
			}
			if strings.Contains(text, "Secret") {
				t.Error("a file outside the directory was served")
			}
		})
	}
}

func TestAPathOutOfTheDirectoryIsCleanedOrNotFound(t *testing.T) {
	h := New(serveBehind(t, nil), shelf(t))
	for _, path := range []string{"/reports/../secret.html", "/reports/../../etc/passwd", "/reports/./../secret.html"} {
		resp, text := get(t, h, "GET", path)
		if resp.StatusCode < 300 || strings.Contains(text, "Secret") {
			t.Errorf("%s: got %d %q", path, resp.StatusCode, text)
		}
	}
}

func TestAReportIsInASandbox(t *testing.T) {
	h := New(serveBehind(t, nil), shelf(t))
	for _, path := range []string{"/reports/first.html", "/reports/frame"} {
		resp, _ := get(t, h, "GET", path)
		policy := resp.Header.Get("Content-Security-Policy")
		for _, want := range []string{"sandbox allow-scripts;", "default-src 'none'", "frame-ancestors 'self'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %s", path, policy, want)
			}
		}
		if strings.Contains(policy, "allow-same-origin") || strings.Contains(policy, "connect-src") {
			t.Errorf("%s: the policy %q lets a report ask the mesh", path, policy)
		}
		if resp.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: its kind can be guessed", path)
		}
	}
}

func TestReportsAreListedAsJSON(t *testing.T) {
	resp, text := get(t, New(serveBehind(t, nil), shelf(t)), "GET", "/api/v1/reports")
	var list struct{ Reports []map[string]any }
	if err := json.Unmarshal([]byte(text), &list); err != nil || resp.StatusCode != 200 {
		t.Fatalf("got %d %q: %v", resp.StatusCode, text, err)
	}
	if len(list.Reports) != 2 || list.Reports[1]["title"] != "zsRE & more" ||
		list.Reports[1]["created"] != "2026-05-01T12:01:00Z" || list.Reports[1]["bytes"] != 77.0 {
		t.Errorf("got %s", text)
	}
	t.Run("no reports are an empty list", func(t *testing.T) {
		if _, text := get(t, New(serveBehind(t, nil), ""), "GET",
			"/api/v1/reports"); strings.TrimSpace(text) != `{"reports":[]}` {
			t.Errorf("got %s", text)
		}
	})
	t.Run("a directory that cannot be read is an error without its path", func(t *testing.T) {
		file := shelf(t) + "/first.html"
		resp, text := get(t, New(serveBehind(t, nil), file), "GET", "/api/v1/reports")
		if resp.StatusCode != 500 || strings.Contains(text, file) ||
			!strings.Contains(text, "orchestrator.http.reports") {
			t.Errorf("got %d %s", resp.StatusCode, text)
		}
	})
}

func TestOnlyThoseWhoMayAskReadReports(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		status int
		code   string
	}{
		{"nobody known", status.Error(codes.Unauthenticated, "name a token"), 401, "UNAUTHENTICATED"},
		{"somebody who may not ask", status.Error(codes.PermissionDenied, "it needs ask"), 403, "PERMISSION_DENIED"},
		{"a mesh that does not answer", status.Error(codes.Unavailable, "the issuer is away"), 503, "UNAVAILABLE"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := New(serveBehind(t, test.err), shelf(t))
			for _, path := range []string{"/api/v1/reports", "/reports/first.html", "/reports/none.html"} {
				resp, text := get(t, h, "GET", path)
				var problem struct {
					Status       int
					Code, Detail string
				}
				if err := json.Unmarshal([]byte(text), &problem); err != nil {
					t.Fatalf("%s: %q: %v", path, text, err)
				}
				if resp.StatusCode != test.status || problem.Status != test.status || problem.Code != test.code ||
					problem.Detail == "" {
					t.Errorf("%s: got %d %s", path, resp.StatusCode, text)
				}
				if resp.Header.Get("Content-Type") != "application/problem+json" {
					t.Errorf("%s: got the type %q", path, resp.Header.Get("Content-Type"))
				}
				if (resp.Header.Get("WWW-Authenticate") == "Bearer") != (test.status == 401) {
					t.Errorf("%s: it asks for %q", path, resp.Header.Get("WWW-Authenticate"))
				}
			}
		})
	}
}
