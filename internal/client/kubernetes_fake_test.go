package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// cluster is an API server that knows EndpointSlices alone. It keeps all of its
// history, until it is told to forget it.
type cluster struct {
	t   *testing.T
	srv *httptest.Server

	mu      sync.Mutex
	slices  map[string]map[string]any
	events  []event // of versions 1, 2, …
	oldest  int     // the first version that can still be watched from
	refuse  int     // status of every request; 0 answers
	changed chan struct{}
	cut     chan struct{} // ends the watches
	paths   []string
	tokens  []string
	lists   int
	asked   chan struct{} // one for each request
}

type event struct {
	Type   string         `json:"type"`
	Object map[string]any `json:"object"`
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{t: t, slices: map[string]map[string]any{}, changed: make(chan struct{}), cut: make(chan struct{}),
		asked: make(chan struct{}, 1000)}
	c.srv = httptest.NewServer(c)
	t.Cleanup(func() {
		c.do(c.cutWatches)
		c.srv.Close()
	})
	return c
}

// api is what a pod in the namespace "mesh" would find.
func (c *cluster) api() (*KubernetesAPI, error) {
	token := filepath.Join(c.t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		return nil, err
	}
	return &KubernetesAPI{URL: c.srv.URL, TokenFile: token, Namespace: "mesh",
		Client: &http.Client{Transport: &http.Transport{}}}, nil
}

func (c *cluster) do(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *cluster) happened(kind string, object map[string]any) {
	object["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(len(c.events) + 1)
	c.events = append(c.events, event{kind, object})
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *cluster) cutWatches() {
	close(c.cut)
	c.cut = make(chan struct{})
}

// pod is an endpoint with its conditions: "ready", "starting" or "terminating";
// anything else gives none.
type pod struct{ ip, state string }

// set writes a slice of the service "retriever", whose port "grpc" is given.
func (c *cluster) set(name string, port int, pods ...pod) {
	var endpoints []any
	for _, p := range pods {
		e := map[string]any{"addresses": []string{p.ip}}
		switch p.state {
		case "ready":
			e["conditions"] = map[string]bool{"ready": true, "serving": true, "terminating": false}
		case "starting":
			e["conditions"] = map[string]bool{"ready": false, "serving": false, "terminating": false}
		case "terminating":
			e["conditions"] = map[string]bool{"ready": false, "serving": true, "terminating": true}
		}
		endpoints = append(endpoints, e)
	}
	object := map[string]any{
		"metadata":  map[string]any{"name": name},
		"endpoints": endpoints,
		"ports": []any{map[string]any{"name": "metrics", "port": 9100}, map[string]any{"name": "grpc",
			"port": port}},
	}
	c.do(func() {
		kind := "ADDED"
		if _, ok := c.slices[name]; ok {
			kind = "MODIFIED"
		}
		c.slices[name] = object
		c.happened(kind, object)
	})
}

func (c *cluster) remove(name string) {
	c.do(func() {
		object := map[string]any{"metadata": map[string]any{"name": name}}
		delete(c.slices, name)
		c.happened("DELETED", object)
	})
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.paths = append(c.paths, r.URL.Path+" "+r.FormValue("labelSelector"))
	c.tokens = append(c.tokens, r.Header.Get("Authorization"))
	// A test that has seen the request may cut it off or forget its version at once: cut belongs to
	// the request from before it is announced.
	refuse, cut := c.refuse, c.cut
	c.mu.Unlock()
	c.asked <- struct{}{}
	switch {
	case refuse != 0:
		http.Error(w, `{"kind":"Status"}`, refuse)
	case r.FormValue("watch") == "":
		c.list(w)
	default:
		from, err := strconv.Atoi(r.FormValue("resourceVersion"))
		if err != nil {
			http.Error(w, "no version", http.StatusBadRequest)
			return
		}
		c.watch(w, r, from, cut)
	}
}

func (c *cluster) list(w http.ResponseWriter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists++
	items := []any{}
	for _, s := range c.slices {
		items = append(items, s)
	}
	c.write(w, map[string]any{"metadata": map[string]any{"resourceVersion": strconv.Itoa(len(c.events))},
		"items": items})
}

// watch sends what came after a version, with a bookmark behind each.
func (c *cluster) watch(w http.ResponseWriter, r *http.Request, from int, cut <-chan struct{}) {
	for {
		c.mu.Lock()
		if from < c.oldest {
			c.write(w, map[string]any{"type": "ERROR", "object": map[string]any{"kind": "Status", "code": 410,
				"message": "too old resource version"}})
			c.mu.Unlock()
			return
		}
		for ; from < len(c.events); from++ {
			c.write(w, c.events[from])
			c.write(w, event{"BOOKMARK",
				map[string]any{"metadata": map[string]any{"resourceVersion": strconv.Itoa(from + 1)}}})
		}
		changed := c.changed
		c.mu.Unlock()
		if err := http.NewResponseController(w).Flush(); err != nil {
			return
		}
		select {
		case <-changed:
		case <-cut:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (c *cluster) write(w http.ResponseWriter, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		c.t.Error(err)
		return
	}
	fmt.Fprintf(w, "%s\n", data)
}
