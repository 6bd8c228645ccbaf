package client

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/serviceconfig"
)

// recorder is what a connection is told: addresses, or an error.
type recorder struct {
	states chan []string
	errors chan error
}

func (h recorder) UpdateState(s resolver.State) error {
	var all []string
	for _, e := range s.Endpoints {
		all = append(all, e.Addresses[0].Addr)
	}
	h.states <- all
	return nil
}

func (h recorder) ReportError(err error) {
	select {
	case h.errors <- err:
	default:
	}
}
func (recorder) NewAddress([]resolver.Address) {}
func (recorder) ParseServiceConfig(string) *serviceconfig.ParseResult {
	return nil
}

func (h recorder) expect(t *testing.T, want ...string) {
	t.Helper()
	for {
		got := <-h.states
		if slices.Equal(got, want) {
			return
		}
		// What a list and a watch bring may come in two steps.
		t.Logf("got %v on the way to %v", got, want)
	}
}

func resolve(t *testing.T, c *cluster, target string) recorder {
	t.Helper()
	h := recorder{make(chan []string, 16), make(chan error, 1)}
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	b := &kubernetesBuilder{API: c.api, Log: slog.New(slog.DiscardHandler)}
	r, err := b.Build(resolver.Target{URL: *u}, h, resolver.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return h
}

const podTarget = "kubernetes:///retriever.mesh:grpc"

func TestTheAddressesAreThoseOfReadyPods(t *testing.T) {
	c := newCluster(t)
	c.set("a", 9092, pod{"10.0.0.1", "ready"}, pod{"10.0.0.2", "starting"}, pod{"10.0.0.3", "terminating"},
		pod{"10.0.0.4", ""})
	h := resolve(t, c, podTarget)
	h.expect(t, "10.0.0.1:9092", "10.0.0.4:9092")

	c.set("a", 9092, pod{"10.0.0.1", "ready"}, pod{"10.0.0.2", "ready"}, pod{"10.0.0.4", ""})
	h.expect(t, "10.0.0.1:9092", "10.0.0.2:9092", "10.0.0.4:9092")

	c.set("a", 9092, pod{"10.0.0.1", "terminating"}, pod{"10.0.0.2", "ready"})
	h.expect(t, "10.0.0.2:9092")
}

func TestAServiceOfSeveralSlicesIsTheirSum(t *testing.T) {
	c := newCluster(t)
	c.set("a", 9092, pod{"10.0.0.1", "ready"}, pod{"10.0.0.2", "ready"})
	c.set("b", 9093, pod{"fd00::1", "ready"})
	h := resolve(t, c, podTarget)
	h.expect(t, "10.0.0.1:9092", "10.0.0.2:9092", "[fd00::1]:9093")

	c.set("c", 9092, pod{"10.0.0.2", "ready"}, pod{"10.0.0.3", "ready"}) // one pod stands in two slices
	h.expect(t, "10.0.0.1:9092", "10.0.0.2:9092", "10.0.0.3:9092", "[fd00::1]:9093")
	c.remove("a")
	h.expect(t, "10.0.0.2:9092", "10.0.0.3:9092", "[fd00::1]:9093")
}

func TestTargets(t *testing.T) {
	for _, test := range []struct{ name, target, path, address string }{
		{"a port by its name", "kubernetes:///retriever.mesh:grpc", "mesh", "10.0.0.1:9092"},
		{"a port by its number", "kubernetes:///retriever.mesh:7000", "mesh", "10.0.0.1:7000"},
		{"the pod's own namespace", "kubernetes:///retriever:grpc", "mesh", "10.0.0.1:9092"},
		{"a whole name", "kubernetes:///retriever.other.svc.cluster.local:grpc", "other", "10.0.0.1:9092"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			c.set("a", 9092, pod{"10.0.0.1", "ready"})
			resolve(t, c, test.target).expect(t, test.address)
			c.do(func() {
				want := "/apis/discovery.k8s.io/v1/namespaces/" + test.path +
					"/endpointslices kubernetes.io/service-name=retriever"
				if c.paths[0] != want || c.tokens[0] != "Bearer secret" {
					t.Errorf("asked %s as %s, want %s as Bearer secret", c.paths[0], c.tokens[0], want)
				}
			})
		})
	}
}

func TestWrongTargetsAreNamed(t *testing.T) {
	c := newCluster(t)
	for _, target := range []string{
		"kubernetes:///retriever", "kubernetes:///:9092", "kubernetes:///retriever.mesh:0",
		"kubernetes:///retriever.mesh:70000",
		"kubernetes:///retriever.mesh.example.org:9092", "kubernetes:///retriever.me%2Fsh:9092",
		"kubernetes:///Retriever:9092",
	} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		b := &kubernetesBuilder{API: c.api, Log: slog.New(slog.DiscardHandler)}
		r, err := b.Build(resolver.Target{URL: *u}, recorder{}, resolver.BuildOptions{})
		if err == nil || !strings.Contains(err.Error(), "want kubernetes:///") {
			t.Errorf("%s: got %v, want an error that says how a target looks", target, err)
		}
		if err == nil {
			r.Close()
		}
	}
}

func TestTheLastKnownPodsStayWhile(t *testing.T) {
	for _, test := range []struct {
		name    string
		happens func(*cluster)
	}{
		{"the API server is away", func(c *cluster) { c.refuse = http.StatusServiceUnavailable; c.cutWatches() }},
		{"the right to look is taken", func(c *cluster) { c.refuse = http.StatusForbidden; c.cutWatches() }},
		{"the version to go on from is no longer kept", func(c *cluster) { c.oldest = 3; c.cutWatches() }},
		{"the API server ends the watch", func(c *cluster) { c.cutWatches() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			c.set("a", 9092, pod{"10.0.0.1", "ready"})
			h := resolve(t, c, podTarget)
			h.expect(t, "10.0.0.1:9092")

			for range 2 { // the list, and the watch that will end
				<-c.asked
			}
			c.do(func() { test.happens(c) })
			<-c.asked
			c.set("a", 9092, pod{"10.0.0.1", "ready"}) // nothing new
			c.set("a", 9092, pod{"10.0.0.2", "ready"})
			c.do(func() { c.refuse = 0 })
			if got := <-h.states; !slices.Equal(got, []string{"10.0.0.2:9092"}) {
				t.Errorf("got %v, want the new pod and nothing before it", got)
			}
			if len(h.errors) != 0 {
				t.Errorf("the connection was told %v", <-h.errors)
			}
		})
	}
}

func TestAWatchThatEndsInOrderIsResumedWithoutAList(t *testing.T) {
	c := newCluster(t)
	c.set("a", 9092, pod{"10.0.0.1", "ready"})
	h := resolve(t, c, podTarget)
	h.expect(t, "10.0.0.1:9092")
	for range 2 { // the list and the watch
		<-c.asked
	}
	time.Sleep(300 * time.Millisecond) // a watch that ends sooner counts as a failure
	c.do(c.cutWatches)
	<-c.asked
	c.set("a", 9092, pod{"10.0.0.2", "ready"})
	h.expect(t, "10.0.0.2:9092")
	c.do(func() {
		if c.lists != 1 {
			t.Errorf("listed %d times, want once", c.lists)
		}
	})
}

func TestAServiceWithoutAReadyPodKeepsThoseItHad(t *testing.T) {
	c := newCluster(t)
	c.set("a", 9092, pod{"10.0.0.1", "ready"})
	h := resolve(t, c, podTarget)
	h.expect(t, "10.0.0.1:9092")
	c.set("a", 9092, pod{"10.0.0.1", "terminating"})
	c.set("a", 9092)
	c.set("a", 9092, pod{"10.0.0.2", "ready"})
	if got := <-h.states; !slices.Equal(got, []string{"10.0.0.2:9092"}) {
		t.Errorf("got %v, want the new pod and nothing before it", got)
	}
}

func TestWhereNothingIsKnownCallsAreTold(t *testing.T) {
	for _, test := range []struct {
		name   string
		refuse int
		want   string
	}{
		{"that the Role is missing", http.StatusForbidden, "endpointslices (discovery.k8s.io) in the namespace mesh"},
		{"that the API server fails", http.StatusInternalServerError, "500"},
		{"that no pod is ready", 0, "no pod of the service retriever"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			c.refuse = test.refuse
			h := resolve(t, c, podTarget)
			if err := <-h.errors; !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			// And all is well once it is mended.
			c.set("a", 9092, pod{"10.0.0.1", "ready"})
			c.do(func() { c.refuse = 0 })
			h.expect(t, "10.0.0.1:9092")
		})
	}
}

func TestOutsideAPodTheErrorSaysSo(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if _, err := inCluster(); err == nil || !strings.Contains(err.Error(), "not in a Kubernetes pod") {
		t.Errorf("got %v", err)
	}
}
