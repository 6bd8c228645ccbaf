package mesh

import (
	"io"
	"slices"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// Plan is a mesh as it is configured, with nothing started.
type Plan struct {
	services []*service
	model    ModelServer
}

// ReadPlan reads the configuration of every target. The error names the
// setting that is wrong.
func ReadPlan(o Options) (*Plan, error) {
	names, err := targets(o.Targets)
	if err != nil {
		return nil, err
	}
	p := &Plan{}
	if p.model, err = loadModelServer(o); err != nil {
		return nil, err
	}
	l := newLoader(o)
	for _, name := range names {
		s, err := l.load(name)
		if err != nil {
			return nil, err
		}
		p.services = append(p.services, s)
	}
	slices.Reverse(p.services)
	return p, nil
}

// Print writes the configuration as one YAML file, each value with where it
// comes from, secrets hidden.
func (p *Plan) Print(w io.Writer) error {
	for _, s := range p.services {
		if err := s.print(w); err != nil {
			return err
		}
	}
	return nil
}

// Addr is where a service is reached; empty where it is not a target.
func (p *Plan) Addr(name string) string {
	for _, s := range p.services {
		if s.name == name {
			return dialable(s.server.Addr)
		}
	}
	return ""
}

// Credentials reach a service for its health, with its own certificate where
// connections are secured.
func (p *Plan) Credentials(name string) (credentials.TransportCredentials, error) {
	for _, s := range p.services {
		if s.name == name {
			return s.credentials()
		}
	}
	return insecure.NewCredentials(), nil
}

// CAFile has the authorities that clients of a service believe; empty where its
// connections are plain.
func (p *Plan) CAFile(name string) string {
	for _, s := range p.services {
		if s.name == name && s.server.TLS.Enabled() {
			return s.server.TLS.Visitor(name).CAFile
		}
	}
	return ""
}

// Endpoint is a model endpoint that services are configured to ask.
type Endpoint struct {
	// BaseURL and Model are as configured.
	BaseURL, Model string
	// APIKey is a secret.
	APIKey string
}

// Endpoints are the distinct model endpoints configured, and whether some
// service has none and needs the local model server.
func (p *Plan) Endpoints() (endpoints []Endpoint, needsLocal bool) {
	for _, s := range p.services {
		if s.llm == nil {
			continue
		}
		e := Endpoint{BaseURL: s.llm.BaseURL, Model: s.llm.Model, APIKey: s.llm.APIKey}
		if s.needsModel() {
			needsLocal = true
		} else if !slices.Contains(endpoints, e) {
			endpoints = append(endpoints, e)
		}
	}
	return endpoints, needsLocal
}

// ModelServer is how the local model server would be run.
func (p *Plan) ModelServer() ModelServer { return p.model }
