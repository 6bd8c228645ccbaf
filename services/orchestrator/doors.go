package orchestrator

import (
	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/orchestrator/console"
	"github.com/triplemesh/triplemesh/services/orchestrator/mcp"
	"github.com/triplemesh/triplemesh/services/orchestrator/openai"
	"github.com/triplemesh/triplemesh/services/orchestrator/reports"
	"github.com/triplemesh/triplemesh/services/orchestrator/rest"
	"github.com/triplemesh/triplemesh/services/orchestrator/web"
)

// openDoors makes the server of HTTP, with every door. They all call the
// orchestrator by conn, as callers from outside do.
func openDoors(cfg Config, conn grpc.ClientConnInterface, tel *telemetry.Telemetry) (*web.Server, error) {
	secure, err := cfg.Server.TLS.HTTPS(tel)
	if err != nil {
		return nil, err
	}
	api, err := rest.New(conn, cfg.HTTP.Heartbeat)
	if err != nil {
		return nil, err
	}
	reports := reports.New(conn, cfg.HTTP.Reports)
	return web.New(cfg.HTTP, secure, tel,
		web.Door{Pattern: "/api/", Handler: api, Uploads: rest.Uploads},
		web.Door{Pattern: "GET /api/v1/reports", Handler: reports},
		web.Door{Pattern: "/reports/", Handler: reports},
		web.Door{Pattern: "/v1/", Handler: openai.New(conn, openai.Config{Heartbeat: cfg.HTTP.Heartbeat})},
		web.Door{Pattern: "/mcp", Handler: mcp.Handler(mcp.New(conn, config.Version(cfg.Version))), Endless: mcp.Endless},
		web.Door{Pattern: "/", Handler: console.Handler(), Files: true},
	)
}
