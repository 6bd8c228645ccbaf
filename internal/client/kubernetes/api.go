package kubernetes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// API is a cluster's API server, as far as a resolver needs it.
type API struct {
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

// account is where a pod finds its service account.
const account = "/var/run/secrets/kubernetes.io/serviceaccount"

// InCluster is the API server of the cluster that this process runs in. The
// error says what a pod would have and this process has not.
func InCluster() (*API, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, errors.New("not in a Kubernetes pod (KUBERNETES_SERVICE_HOST is not set): name the service as host:port")
	}
	ca, err := os.ReadFile(filepath.Join(account, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the API server's certificate: %w; the pod needs automountServiceAccountToken", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("read the API server's certificate: %s/ca.crt holds none", account)
	}
	own, err := os.ReadFile(filepath.Join(account, "namespace"))
	if err != nil {
		return nil, fmt.Errorf("read the pod's namespace: %w", err)
	}
	// A watch whose other end is gone without a word is noticed in 25 s.
	dialer := &net.Dialer{
		Timeout:         5 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3},
	}
	return &API{
		URL:       "https://" + net.JoinHostPort(host, port),
		TokenFile: filepath.Join(account, "token"),
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

// errGone says that the version to go on from is no longer kept: the list has
// to be read again.
var errGone = errors.New("the version to watch from is no longer kept")

// list reads all EndpointSlices of a service, and the version to watch from.
func (a *API) list(ctx context.Context, of service) (known, string, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	body, err := a.get(ctx, of, nil)
	if err != nil {
		return nil, "", err
	}
	defer body.Close()
	var list struct {
		Metadata metadata        `json:"metadata"`
		Items    []endpointSlice `json:"items"`
	}
	if err := json.NewDecoder(body).Decode(&list); err != nil {
		return nil, "", fmt.Errorf("read the list of endpoints: %w", err)
	}
	all := known{}
	for _, slice := range list.Items {
		all[slice.Metadata.Name] = slice
	}
	return all, list.Metadata.ResourceVersion, nil
}

// watchFor is how long the API server is asked to keep a watch open.
const watchFor = 5 * time.Minute

// watch applies changes to all from a version on, tells of each, and returns
// the version it came to: with nil where the API server ended the watch in
// order.
func (a *API) watch(ctx context.Context, of service, all known, version string, changed func()) (string, error) {
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
func (a *API) get(ctx context.Context, of service, query url.Values) (io.ReadCloser, error) {
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
		return nil, fmt.Errorf("ask the API server for endpoints: %s: the pod's service account needs a Role with the verbs list and watch on endpointslices (discovery.k8s.io) in the namespace %s", resp.Status, of.namespace)
	}
	return nil, fmt.Errorf("ask the API server for endpoints: %s: %s", resp.Status, said)
}
