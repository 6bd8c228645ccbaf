package orchestrator_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/mtls"
	"github.com/triplemesh/triplemesh/internal/testkit"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// front runs an orchestrator and returns where its HTTP is, HOST:PORT.
func front(t *testing.T, cfg orchestrator.Config) (addr string, service *testkit.Service) {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg.HTTP.Listener = lis
	service = testkit.Serve(t, func(ctx context.Context, l net.Listener) error {
		cfg.Server.Listener = l
		return orchestrator.Run(ctx, cfg)
	})
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return lis.Addr().String(), service
}

const asksFilm = `{"question": "` + stagetest.Film + `", "kg": {"name": "wikidata"}}`

// post asks the API and returns the status and the body.
func post(t *testing.T, client *http.Client, url, token, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestAQuestionOverHTTP(t *testing.T) {
	addr, _ := front(t, testConfig(t, stagetest.New(t)))
	for path, wants := range map[string]string{
		"/api/v1/ask":          stagetest.Director,
		"/api/v1/ask:stream":   "event: run\n",
		"/api/v1/kgs/x:verify": `"code":`, // a method that is forwarded
		"/v1/chat/completions": `"code"`,
	} {
		body := asksFilm
		if strings.HasSuffix(path, ":verify") || strings.HasPrefix(path, "/v1/") {
			body = "{}"
		}
		if status, text := post(t, http.DefaultClient, "http://"+addr+path, "", body); !strings.Contains(text, wants) {
			t.Errorf("%s is answered %d: %s", path, status, text)
		}
	}
	resp, err := http.Get("http://" + addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if page, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK ||
		!strings.Contains(string(page), "<html") {
		t.Errorf("the console is %d %s, %v", resp.StatusCode, page, err)
	}
}

func TestTenantsOverHTTP(t *testing.T) {
	cfg := testConfig(t, stagetest.New(t))
	tokens := asking(t, &cfg, "acme/ana", "globex/gus")
	addr, _ := front(t, cfg)
	url := "http://" + addr + "/api/v1/"
	if status, text := post(t, http.DefaultClient, url+"ask", "", asksFilm); status != http.StatusUnauthorized ||
		!strings.Contains(text, "TOKEN_MISSING") {
		t.Errorf("nobody is answered %d: %s", status, text)
	}
	if status, text := post(t, http.DefaultClient, url+"kgs/plans:rollback", tokens["acme/ana"],
		""); status != http.StatusForbidden || !strings.Contains(text, "SCOPE_MISSING") {
		t.Errorf("who may only ask rolls back: %d: %s", status, text)
	}
	status, text := post(t, http.DefaultClient, url+"ask", tokens["acme/ana"], asksFilm)
	if status != http.StatusOK {
		t.Fatalf("ana is answered %d: %s", status, text)
	}
	for name, sees := range map[string]bool{"acme/ana": true, "globex/gus": false} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"runs", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+tokens[name])
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		list, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || strings.Contains(string(list), stagetest.Film) != sees {
			t.Errorf("%s sees %s, %v", name, list, err)
		}
	}
}

func TestHTTPOverTLS(t *testing.T) {
	certs := testkit.NewCerts(t)
	certs.Issue(mtls.CertificateRequest{Stage: "orchestrator", Hosts: []string{"127.0.0.1"}})
	cfg := testConfig(t, stagetest.New(t))
	files := mtls.Files{
		CertFile: strings.ReplaceAll(certs.Files().CertFile, "{stage}", "orchestrator"),
		KeyFile:  strings.ReplaceAll(certs.Files().KeyFile, "{stage}", "orchestrator"),
		CAFile:   strings.ReplaceAll(certs.Files().CAFile, "{stage}", "orchestrator"),
	}
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg.HTTP.Listener, cfg.Server.Addr, cfg.Server.TLS.Files = lis, "127.0.0.1:0", files
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- orchestrator.Run(ctx, cfg) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	pem, err := os.ReadFile(files.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	// The stages are plain, so that a question gets as far as the first of them.
	if status, text := post(t, client, "https://"+lis.Addr().String()+"/api/v1/ask", "",
		`{}`); status != http.StatusBadRequest {
		t.Errorf("got %d %s", status, text)
	}
	if status, text := post(t, http.DefaultClient, "http://"+lis.Addr().String()+"/api/v1/ask", "",
		`{}`); status != http.StatusBadRequest || strings.Contains(text, "problem") {
		t.Errorf("plain HTTP is answered %d %s", status, text)
	}
}

// TestAStreamIsAnsweredToItsEnd stops the orchestrator in the midst of a
// question.
func TestAStreamIsAnsweredToItsEnd(t *testing.T) {
	mesh := stagetest.New(t)
	begun, let := make(chan struct{}), make(chan struct{})
	stagetest.Script(mesh, func(context.Context, *generatorv1.GeneratePseudoGraphRequest) (
		*generatorv1.GeneratePseudoGraphResponse, error) {
		close(begun)
		<-let
		return &generatorv1.GeneratePseudoGraphResponse{Usage: stagetest.Usage()}, nil
	})
	addr, service := front(t, testConfig(t, mesh))
	answers := make(chan string, 1)
	go func() {
		_, text := post(t, http.DefaultClient, "http://"+addr+"/api/v1/ask:stream", "", asksFilm)
		answers <- text
	}()
	<-begun
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		service.Stop()
	}()
	close(let)
	if text := <-answers; !strings.Contains(text, "event: run\n") {
		t.Errorf("it was answered %s", text)
	}
	<-stopped
}

func TestOneAddressIsEnough(t *testing.T) {
	_, service := front(t, testConfig(t, stagetest.New(t)))
	var conn grpc.ClientConnInterface = service.Conn
	resp, err := retrieverv1.NewKnowledgeGraphServiceClient(conn).ListKnowledgeGraphs(t.Context(),
		&retrieverv1.ListKnowledgeGraphsRequest{KgName: "wikidata"})
	if err != nil || len(resp.GetSnapshots()) != 2 {
		t.Errorf("got %v, %v", resp, err)
	}
}
