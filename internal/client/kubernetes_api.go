package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// KubernetesAPI is a cluster's API server, as far as a resolver needs it.
type KubernetesAPI struct {
	// URL is where it listens.
	URL string
	// TokenFile holds the service account's token. It is read for each request,
	// since it is renewed; empty sends none.
	TokenFile string
	// Namespace is the pod's own.
	Namespace string
	// Client makes the requests.
	Client *http.Client
}

// accountDir is where a pod finds its service account.
const accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// inCluster is the API server of the cluster that this process runs in. The
// error says what a pod would have and this process has not.
func inCluster() (*KubernetesAPI, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, errors.New("not in a Kubernetes pod (KUBERNETES_SERVICE_HOST is not set): name the service as " +
			"host:port")
	}
	ca, err := os.ReadFile(filepath.Join(accountDir, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the API server's certificate: %w; the pod needs automountServiceAccountToken", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("read the API server's certificate: %s/ca.crt holds none", accountDir)
	}
	own, err := os.ReadFile(filepath.Join(accountDir, "namespace"))
	if err != nil {
		return nil, fmt.Errorf("read the pod's namespace: %w", err)
	}
	// A watch whose other end is gone without a word is noticed in 25 s.
	dialer := &net.Dialer{
		Timeout:         5 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3},
	}
	return &KubernetesAPI{
		URL:       "https://" + net.JoinHostPort(host, port),
		TokenFile: filepath.Join(accountDir, "token"),
		Namespace: strings.TrimSpace(string(own)),
		Client: &http.Client{Transport: &http.Transport{
			DialContext:           dialer.DialContext,
			TLSClientConfig:       &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:   5 * time.Second,
			ResponseHeaderTimeout: 10 * time.Second,
			IdleConnTimeout:       30 * time.Second,
		}},
	}, nil
}

// errGone means that the version to watch from has been compacted: the list must be read again.
var errGone = errors.New("the version to watch from is no longer kept")

// list reads all EndpointSlices of a service, and the version to watch from.
func (a *KubernetesAPI) list(ctx context.Context, of service) (sliceSet, string, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	body, err := a.get(ctx, of, nil)
	if err != nil {
		return nil, "", err
	}
	defer body.Close()
	var list struct {
		Metadata objectMetadata  `json:"metadata"`
		Items    []endpointSlice `json:"items"`
	}
	if err := json.NewDecoder(body).Decode(&list); err != nil {
		return nil, "", fmt.Errorf("read the list of endpoints: %w", err)
	}
	all := sliceSet{}
	for _, slice := range list.Items {
		all[slice.Metadata.Name] = slice
	}
	return all, list.Metadata.ResourceVersion, nil
}

// watchFor is how long the API server is asked to keep a watch open.
const watchFor = 5 * time.Minute

// watch applies the changes since a version to all, calls changed after each, and returns the last
// version. The error is nil if the API server ended the watch in order.
func (a *KubernetesAPI) watch(ctx context.Context, of service, all sliceSet, version string,
	changed func()) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, watchFor+time.Minute)
	defer cancel()
	body, err := a.get(ctx, of, url.Values{
		"watch": {"1"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {version},
		"timeoutSeconds": {strconv.Itoa(int(watchFor.Seconds()))},
	})
	if err != nil {
		return version, err
	}
	defer body.Close()
	events := json.NewDecoder(body)
	for {
		var event struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := events.Decode(&event); err == io.EOF {
			return version, nil
		} else if err != nil {
			return version, fmt.Errorf("watch endpoints: %w", err)
		}
		if event.Type == "ERROR" {
			return version, eventError(event.Object)
		}
		var slice endpointSlice
		if err := json.Unmarshal(event.Object, &slice); err != nil {
			return version, fmt.Errorf("watch endpoints: read an event %s: %w", event.Type, err)
		}
		version = slice.Metadata.ResourceVersion
		switch event.Type {
		case "ADDED", "MODIFIED":
			all[slice.Metadata.Name] = slice
		case "DELETED":
			delete(all, slice.Metadata.Name)
		default: // BOOKMARK, which tells the version alone
			continue
		}
		changed()
	}
}

func eventError(object json.RawMessage) error {
	var st struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(object, &st); err != nil {
		return fmt.Errorf("watch endpoints: read an error: %w", err)
	}
	if st.Code == http.StatusGone {
		return errGone
	}
	return fmt.Errorf("watch endpoints: the API server answers %d: %s", st.Code, st.Message)
}

// get asks for the EndpointSlices of a service.
func (a *KubernetesAPI) get(ctx context.Context, of service, query url.Values) (io.ReadCloser, error) {
	if query == nil {
		query = url.Values{}
	}
	query.Set("labelSelector", "kubernetes.io/service-name="+of.name)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		a.URL+"/apis/discovery.k8s.io/v1/namespaces/"+of.namespace+"/endpointslices?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if a.TokenFile != "" {
		token, err := os.ReadFile(a.TokenFile)
		if err != nil {
			return nil, fmt.Errorf("read the service account's token: %w", err)
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	resp, err := a.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the API server for endpoints: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 1024))
	switch resp.StatusCode {
	case http.StatusGone:
		return nil, errGone
	case http.StatusForbidden, http.StatusUnauthorized:
		return nil, fmt.Errorf("ask the API server for endpoints: %s: the pod's service account needs a Role with "+
			"the verbs list and watch on endpointslices (discovery.k8s.io) in the namespace %s",
			resp.Status, of.namespace)
	}
	return nil, fmt.Errorf("ask the API server for endpoints: %s: %s", resp.Status, said)
}

// What is read of an EndpointSlice (discovery.k8s.io/v1).
type (
	endpointSlice struct {
		Metadata  objectMetadata `json:"metadata"`
		Endpoints []endpoint     `json:"endpoints"`
		Ports     []port         `json:"ports"`
	}
	objectMetadata struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	}
	endpoint struct {
		Addresses  []string   `json:"addresses"`
		Conditions conditions `json:"conditions"`
	}
	// conditions that are missing count as true, but terminating, which counts as false.
	conditions struct {
		Ready       *bool `json:"ready"`
		Serving     *bool `json:"serving"`
		Terminating *bool `json:"terminating"`
	}
	port struct {
		Name string `json:"name"`
		Port int    `json:"port"`
	}
)

func (c conditions) isReady() bool {
	return (c.Ready == nil || *c.Ready) && (c.Serving == nil || *c.Serving) && (c.Terminating == nil || !*c.Terminating)
}

// sliceSet is every EndpointSlice of a service by name: a large service has
// several, and while one is rewritten a pod may be in two.
type sliceSet map[string]endpointSlice

// addresses are host:port of the pods that take calls, each once, in order.
func (k sliceSet) addresses(want string) []string {
	found := map[string]bool{}
	for _, slice := range k {
		number := slice.portNumber(want)
		if number == "" {
			continue
		}
		for _, e := range slice.Endpoints {
			// All addresses of an endpoint are the same pod; the first is enough.
			if e.Conditions.isReady() && len(e.Addresses) > 0 {
				found[net.JoinHostPort(e.Addresses[0], number)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// portNumber is the pods' port: want itself, or the one that has it as its name.
func (s endpointSlice) portNumber(want string) string {
	if _, err := strconv.Atoi(want); err == nil {
		return want
	}
	for _, p := range s.Ports {
		if p.Name == want {
			return strconv.Itoa(p.Port)
		}
	}
	return ""
}
