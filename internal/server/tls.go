package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/mtls"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
)

// TLSConfig configures TLS and which stages may call this one. The zero value disables TLS.
type TLSConfig struct {
	mtls.Files
	// Require requires a certificate of every client. The default is true for stages that only
	// stages call, false for the orchestrator and the retriever, which outside callers may call
	// without one.
	Require *bool `koanf:"require" help:"require client certificates; the default depends on the stage"`
	// Peers are the stages that may call this one. The default is the orchestrator, and none for
	// the orchestrator.
	Peers []string `koanf:"peers" help:"stages that may call this one; the default depends on the stage"`
}

// policy decides who may call a stage over TLS.
type policy struct {
	// peers are the stages that may call it.
	peers []string
	// open admits callers without a certificate, who are authenticated by token.
	open bool
}

// policies are the defaults of the stages. Others have the zero policy, which admits nobody.
var policies = map[string]policy{
	"orchestrator": {open: true},
	"retriever":    {peers: []string{"orchestrator"}, open: true},
	"generator":    {peers: []string{"orchestrator"}},
	"verifier":     {peers: []string{"orchestrator"}},
	"evaluator":    {peers: []string{"orchestrator"}},
	"reflector":    {peers: []string{"orchestrator"}},
}

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

// credentials returns the server's transport credentials.
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

// HTTPS returns the TLS configuration of the HTTP listener, by the same files; nil without TLS.
// Client certificates are required as they are for gRPC.
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

// meshPeer returns the calling stage by its certificate; false if it showed none or the policy does
// not list it.
func (p policy) meshPeer(ctx context.Context) (stage string, ok bool) {
	peer, secured := mtls.PeerFrom(ctx)
	if !secured || !slices.Contains(p.peers, peer.Stage()) {
		return "", false
	}
	return peer.Stage(), true
}

// trusts reports whether a request comes from a stage that may call this one: by its certificate, or
// as the authenticated caller. Without mTLS and authentication no caller can be told from a stage.
func (p policy) trusts(ctx context.Context, authenticates bool) bool {
	if len(p.peers) == 0 {
		return false
	}
	if _, ok := p.meshPeer(ctx); ok {
		return true
	}
	if authenticates {
		caller, ok := auth.CallerFrom(ctx)
		return ok && caller.IsMesh()
	}
	_, secured := mtls.PeerFrom(ctx)
	return !secured
}

// refuseStrangers refuses callers with a valid certificate that this stage's policy does not list,
// so that a compromised stage reaches only the stages that its own work needs. Callers without a
// certificate are left to authentication.
func (p policy) refuseStrangers(stage string) link {
	return authLink("peers", func(ctx context.Context) (context.Context, error) {
		peer, secured := mtls.PeerFrom(ctx)
		if _, ok := p.meshPeer(ctx); ok || !secured || peer.ID.IsZero() {
			return ctx, nil
		}
		accountFrom(ctx).setCaller(auth.Caller{Subject: peer.ID.String()})
		may := "no stage may"
		if len(p.peers) > 0 {
			may = "only " + strings.Join(p.peers, ", ") + " may"
		}
		return nil, refuse(codes.PermissionDenied, errorsv1.ErrorReason_ERROR_REASON_PEER_NOT_ALLOWED, stage, nil,
			"%s may not call the %s: by certificate %s; let it in with server.tls.peers, "+
				"or call without a certificate where that is allowed", peer.ID, stage, may)
	}).onlyFor(selector.MatchFunc(func(_ context.Context,
		c interceptors.CallMeta) bool {
		return !isHealth(c.Service)
	}))
}
