package k8s

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

// incident has the series, one sample a minute, with which an alert must fire, and those of a mesh
// that is well, with which it must not.
type incident struct {
	faulty, healthy string
	// summary is part of the firing alert's.
	summary string
}

// countModelCalls returns the series of a model's calls, of which two in ten have the outcome.
func countModelCalls(outcome string) string {
	const series = `triplemesh_llm_calls_total{service_name="generator", gen_ai_request_model="m", outcome=`
	return fmt.Sprintf("%[1]s\"answered\"} 0+8x240\n%[1]s%[2]q} 0+2x240", series, outcome)
}

const damaged = `triplemesh_rpc_handled_total{service_name="triplemesh-retriever", pod="r-1", rpc_code="DATA_LOSS"}`

const asked = `triplemesh_rpc_handled_total{namespace="a", service_name="triplemesh-orchestrator", ` +
	`rpc_method="Ask", rpc_code=`

var incidents = map[string]incident{
	"TriplemeshQuestionsFail": {
		faulty:  asked + `"OK"} 0+60x240` + "\n" + asked + `"UNAVAILABLE"} 0+6x240`,
		healthy: asked + `"OK"} 0+60x240` + "\n" + asked + `"INVALID_ARGUMENT"} 0+6x240`,
		summary: "9.091% of the questions fail",
	},
	"TriplemeshStageDown": {
		faulty:  `kube_deployment_status_replicas_available{deployment="verifier"} 0x240`,
		healthy: `kube_deployment_status_replicas_available{deployment="verifier"} 1x240`,
		summary: "No pod of the verifier is ready",
	},
	"TriplemeshModelFails": {
		faulty:  countModelCalls("UNAVAILABLE"),
		healthy: countModelCalls("CANCELLED"),
		summary: "20% of the calls of m by generator fail",
	},
	"TriplemeshSnapshotDamaged": {
		faulty:  damaged + " 0+1x240",
		healthy: damaged + " 0x240",
		summary: "does not match in r-1",
	},
	"TriplemeshCertificateExpires": {
		faulty:  `triplemesh_tls_expires_in_seconds{service_name="verifier"} 14400-30x240`,
		healthy: `triplemesh_tls_expires_in_seconds{service_name="verifier"} 80000-30x240`,
		summary: "The certificate of verifier ends in 2h",
	},
	"TriplemeshRetrievalSlow": {
		faulty:  countRetrievals("0+10x240", "0+100x240", "0+100x240"),
		healthy: countRetrievals("0+100x240", "0+100x240", "0+100x240"),
		summary: "takes longer than 1.9",
	},
	"TriplemeshModelEndpointLeft": {
		faulty:  `triplemesh_llm_endpoint_left{service_name="generator", triplemesh_endpoint="http://m"} 1x240`,
		healthy: `triplemesh_llm_endpoint_left{service_name="generator", triplemesh_endpoint="http://m"} 0x240`,
		summary: "generator has left http://m alone",
	},
	"TriplemeshTurnsAway": {
		faulty:  `triplemesh_rpc_handled_total{service_name="retriever", rpc_reason="TOO_MANY_REQUESTS"} 0+60x240`,
		healthy: `triplemesh_rpc_handled_total{service_name="retriever", rpc_reason=""} 0+60x240`,
		summary: "retriever turns 1 calls a second away",
	},
	"TriplemeshRefusals": {
		faulty:  `triplemesh_auth_refusals_total{service_name="orchestrator", reason="TOKEN_EXPIRED"} 0+120x240`,
		healthy: `triplemesh_auth_refusals_total{service_name="orchestrator", reason="TOKEN_EXPIRED"} 0+6x240`,
		summary: "orchestrator refuses 2 calls a second: TOKEN_EXPIRED",
	},
	"TriplemeshAuditLost": {
		faulty:  `triplemesh_audit_lost_total{service_name="orchestrator"} 0+1x240`,
		healthy: `triplemesh_audit_lost_total{service_name="orchestrator"} 3x240`,
		summary: "of orchestrator could not be written",
	},
	"TriplemeshSpansLost": {
		faulty:  `triplemesh_telemetry_lost_spans_total{service_name="generator", reason="queue full"} 0+2x240`,
		healthy: `triplemesh_telemetry_lost_spans_total{service_name="generator", reason="queue full"} 7x240`,
		summary: "generator loses 20 spans in ten minutes: queue full",
	},
	"TriplemeshQuestionsPartial": {
		faulty:  countPartial("0+3x240", "0+1x240"),
		healthy: countPartial("0+1x240", "0+19x240"),
		summary: "75% of the questions are answered in part",
	},
	"TriplemeshAnswersUngrounded": {
		faulty:  countGrounded("0+1x240", "0+3x240"),
		healthy: countGrounded("0+3x240", "0+1x240"),
		summary: "75% of the answers",
	},
	"TriplemeshRestarts": {
		faulty:  `kube_pod_container_status_restarts_total{container="stage", pod="r-1"} 0+1x240`,
		healthy: `kube_pod_container_status_restarts_total{container="stage", pod="r-1"} 2x240`,
		summary: "r-1 has restarted 30 times",
	},
	"TriplemeshVolumeFull": {
		faulty:  measureVolume("10"),
		healthy: measureVolume("20"),
		summary: "triplemesh-kg has 10% left",
	},
	"TriplemeshScaledOut": {
		faulty:  countReplicas("10"),
		healthy: countReplicas("9"),
		summary: "as many retrievers as there may be",
	},
}

func countRetrievals(second, two, all string) string {
	const series = `rpc_server_call_duration_seconds_bucket{service_name="triplemesh-retriever", ` +
		`rpc_method="triplemesh.retriever.v1.RetrieverService/GroundGraph", le=`
	return fmt.Sprintf("%[1]s\"1\"} %[2]s\n%[1]s\"2\"} %[3]s\n%[1]s\"+Inf\"} %[4]s", series, second, two, all)
}

func countGrounded(yes, no string) string {
	const series = `triplemesh_orchestrator_questions_total{method="pg-akv", grounding=`
	return fmt.Sprintf("%[1]s\"grounded\"} %[2]s\n%[1]s\"ungrounded\"} %[3]s", series, yes, no)
}

func countPartial(partial, whole string) string {
	const series = `triplemesh_orchestrator_questions_total{method="pg-akv", partial=`
	return fmt.Sprintf("%[1]s\"true\"} %[2]s\n%[1]s\"false\"} %[3]s", series, partial, whole)
}

func measureVolume(available string) string {
	return fmt.Sprintf(`kubelet_volume_stats_available_bytes{persistentvolumeclaim="triplemesh-kg"} %sx240
kubelet_volume_stats_capacity_bytes{persistentvolumeclaim="triplemesh-kg"} 100x240`, available)
}

func countReplicas(current string) string {
	const labels = `{namespace="a", horizontalpodautoscaler="retriever"}`
	return fmt.Sprintf("kube_horizontalpodautoscaler_status_current_replicas%[1]s %[2]sx240\n"+
		"kube_horizontalpodautoscaler_spec_max_replicas%[1]s 10x240", labels, current)
}

func TestEveryAlertFiresInItsIncident(t *testing.T) {
	seen := 0
	for _, a := range alerts(t) {
		i, ok := incidents[a.Alert]
		if !ok {
			t.Errorf("%s is never fired by a test", a.Alert)
			continue
		}
		seen++
		t.Run(a.Alert, func(t *testing.T) {
			fired := evaluate(t, a, i.faulty)
			if len(fired) != 1 || !strings.Contains(fired[0].Annotations.Get("summary"), i.summary) {
				t.Errorf("got %v, want one alert with the summary %q", fired, i.summary)
			}
			for _, f := range fired {
				if _, anchor, ok := strings.Cut(f.Annotations.Get("runbook_url"), "docs/operations.md#"); !ok ||
					anchor != strings.ToLower(a.Alert) {
					t.Errorf("the runbook is %s", f.Annotations.Get("runbook_url"))
				}
			}
			if fired := evaluate(t, a, i.healthy); len(fired) > 0 {
				t.Errorf("a mesh that is well fires %v", fired)
			}
		})
	}
	if seen != len(incidents) {
		t.Errorf("of %d incidents, %d have an alert", len(incidents), seen)
	}
}

// evaluate evaluates the alert once a minute and returns what fires after four hours of the series.
func evaluate(t *testing.T, a alert, series string) []*rules.Alert {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(a.Expr)
	if err != nil {
		t.Fatal(err)
	}
	var hold time.Duration
	if a.For != "" {
		if hold, err = time.ParseDuration(a.For); err != nil {
			t.Fatal(err)
		}
	}
	data := promqltest.LoadedStorage(t, "load 1m\n"+indent(series))
	defer data.Close()
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, 1e6)
	rule := rules.NewAlertingRule(a.Alert, expr, hold, 0, labels.FromMap(a.Labels), labels.FromMap(a.Annotations),
		labels.EmptyLabels(), "", true, nil)
	for minute := range 241 {
		if _, err := rule.Eval(t.Context(), 0, time.Unix(0, 0).Add(time.Duration(minute)*time.Minute),
			rules.EngineQueryFunc(engine, data), &url.URL{}, 0); err != nil {
			t.Fatal(err)
		}
	}
	var firing []*rules.Alert
	for _, active := range rule.ActiveAlerts() {
		if active.State == rules.StateFiring {
			firing = append(firing, active)
		}
	}
	return firing
}

func indent(series string) string {
	return "  " + strings.ReplaceAll(series, "\n", "\n  ")
}
