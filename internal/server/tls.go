package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/mtls"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// TLSConfig says how a server's connections are secured, and which stages may
// call it by their certificates. The zero TLSConfig leaves connections plain.
type TLSConfig struct {
	mtls.Files
	// Require wants a certificate of every client. Unset, it is as the stage
	// needs it: yes for those that only stages call, no for the orchestrator and
	// the retriever, which outside callers may reach without one.
	Require *bool `koanf:"require" help:"want a certificate of every client; unset for what suits the stage"`
	// Peers are the stages that may call this one as stages of the mesh. Empty,
	// they are the orchestrator alone, and for the orchestrator nobody.
	Peers []string `koanf:"peers" help:"stages that may call this one; empty for what suits the stage"`
}

// policy is who reaches a stage over TLS.
type policy struct {
	// peers are the stages that may call it.
	peers []string
	// open lets in callers who show no certificate. What they may is for their
	// tokens to say.
	open bool
}

// policies are the policies of the stages where nothing else is configured. All
// others have the zero policy, which lets nobody in.
var policies = map[string]policy{
	"orchestrator": {open: true},
	"retriever":    {peers: []string{"orchestrator"}, open: true},
	"generator":    {peers: []string{"orchestrator"}},
	"verifier":     {peers: []string{"orchestrator"}},
	"evaluator":    {peers: []string{"orchestrator"}},
	"reflector":    {peers: []string{"orchestrator"}},
}

// policy is the one that holds for a stage.
func (c TLSConfig) policy(stage string) policy {
	p := policies[stage]
	if c.Require != nil {
		p.open = !*c.Require
	}
	if len(c.Peers) > 0 {
		p.peers = c.Peers
	}
	return p
}

// credentials secure the connections of a server, where they are to be.
func (c TLSConfig) credentials(tel *telemetry.Telemetry) (credentials.TransportCredentials, error) {
	if !c.Enabled() {
		return insecure.NewCredentials(), nil
	}
	source, err := mtls.Open(c.Files, tel)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	return mtls.Server(source, !c.policy(tel.Service()).open), nil
}

// HTTPS secures the connections of a server of HTTP that stands before the
// stage's own, by the same files; nil where connections are plain. Its clients
// must show a certificate where the stage's must.
func (c TLSConfig) HTTPS(tel *telemetry.Telemetry) (*tls.Config, error) {
	if !c.Enabled() {
		return nil, nil
	}
	source, err := mtls.OpenSilent(c.Files, tel)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	return mtls.HTTPS(source, !c.policy(tel.Service()).open), nil
}

// meshPeer is the stage that makes an RPC, by its certificate; false where it
// showed none, or none that this stage's policy lets in. It is what
// authentication goes by.
func (p policy) meshPeer(ctx context.Context) (stage string, ok bool) {
	peer, secured := mtls.PeerFrom(ctx)
	if !secured || !slices.Contains(p.peers, peer.Stage()) {
		return "", false
	}
	return peer.Stage(), true
}

// refuseStrangers turns away who has a certificate that is believed and may not
// call this stage: a stage that was taken over reaches no further than its own
// work does. Who shows none is for authentication to look at.
func (p policy) refuseStrangers(stage string) around {
	return func(ctx context.Context, method string, next func(context.Context) error) error {
		peer, secured := mtls.PeerFrom(ctx)
		if _, ok := p.meshPeer(ctx); ok || !secured || peer.ID.IsZero() || isHealth(method) {
			return next(ctx)
		}
		accountFrom(ctx).know(auth.Caller{Subject: peer.ID.String()})
		may := "no stage may"
		if len(p.peers) > 0 {
			may = "only " + strings.Join(p.peers, ", ") + " may"
		}
		return refuse(codes.PermissionDenied, "PEER_NOT_ALLOWED", stage, nil,
			"%s may not call the %s: by certificate %s; let it in with server.tls.peers, or call without a certificate where that is allowed", peer.ID, stage, may)
	}
}
