package server_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // as the exporters of telemetry bring it along
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/server"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

// post sends one gRPC message as it is and returns the status of the RPC.
func post(t *testing.T, addr string, compressed bool, message []byte) string {
	t.Helper()
	frame := make([]byte, 5, 5+len(message))
	if compressed {
		frame[0] = 1
	}
	binary.BigEndian.PutUint32(frame[1:], uint32(len(message)))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		"http://"+addr+reflectorv1.ReflectorService_Reflect_FullMethodName, bytes.NewReader(append(frame, message...)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("Te", "trailers")
	if compressed {
		req.Header.Set("Grpc-Encoding", "gzip")
	}
	plain := new(http.Protocols)
	plain.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: plain}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	if code := resp.Header.Get("Grpc-Status"); code != "" {
		return code
	}
	return resp.Trailer.Get("Grpc-Status")
}

func TestACompressedMessageIsNotInflatedBeyondTheLimit(t *testing.T) {
	r := start(t, "reflector", answering(echo), func(c *server.Config) { c.MaxMessageBytes = 1 << 20 })
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.CopyN(w, nothing{}, 512<<20); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if packed.Len() > 1<<20 {
		t.Fatalf("the bomb has %d bytes: the limit would hold it off unopened", packed.Len())
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	code := post(t, r.addr, true, packed.Bytes())
	runtime.ReadMemStats(&after)
	if code != "8" {
		t.Errorf("ended with %q, want RESOURCE_EXHAUSTED", code)
	}
	if made := after.TotalAlloc - before.TotalAlloc; made > 16<<20 {
		t.Errorf("%d bytes were allocated", made)
	}
}

// nothing reads as zeros.
type nothing struct{}

func (nothing) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestWhatIsLargerThanTheLimitsIsRefused(t *testing.T) {
	r := start(t, "reflector", answering(echo), func(c *server.Config) { c.MaxMessageBytes = 1 << 20 })
	if code := post(t, r.addr, false, make([]byte, 1<<20+1)); code != "8" {
		t.Errorf("a large message ended with %q, want RESOURCE_EXHAUSTED", code)
	}
	// Groups in groups, of a field that nobody knows.
	if code := post(t, r.addr, false, bytes.Repeat([]byte{0xfb, 0x07}, 1<<19)); code != "3" {
		t.Errorf("a nested message ended with %q, want INVALID_ARGUMENT", code)
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x-large", strings.Repeat("x", 64<<10))
	if _, err := r.reflect(ctx, "why"); err == nil {
		t.Error("64 KiB of metadata were taken")
	}
	if _, err := r.reflect(t.Context(), strings.Repeat("x", 17<<10)); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a question that is too long ended with %v", err)
	}
	if _, err := r.reflect(t.Context(), "why"); err != nil {
		t.Errorf("and then a plain question with %v", err)
	}
}

// What cannot be decoded is refused as that, INVALID_ARGUMENT, once it is decoded.
func TestNoMessageIsDecodedBeforeItsCallerIsKnownAndAdmitted(t *testing.T) {
	malformed := bytes.Repeat([]byte{0xfb, 0x07}, 8)
	begun, release := make(chan struct{}), make(chan struct{})
	open := start(t, "reflector", answering(func(ctx context.Context,
		req *reflectorv1.ReflectRequest) (*reflectorv1.ReflectResponse, error) {
		close(begun)
		<-release
		return echo(ctx, req)
	}), func(c *server.Config) { c.MaxInFlight, c.MaxQueue = 1, 0 })
	if code := post(t, open.addr, false, malformed); code != "3" {
		t.Errorf("an admitted caller's malformed message ended with %q, want INVALID_ARGUMENT", code)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := open.reflect(t.Context(), "why")
		ended <- err
	}()
	<-begun
	if code := post(t, open.addr, false, malformed); code != "8" {
		t.Errorf("a malformed message beyond the limit ended with %q, want RESOURCE_EXHAUSTED", code)
	}
	close(release)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	closed := start(t, "reflector", answering(echo), newKeepers(t).enable)
	if code := post(t, closed.addr, false, malformed); code != "16" {
		t.Errorf("an unknown caller's malformed message ended with %q, want UNAUTHENTICATED", code)
	}
}
