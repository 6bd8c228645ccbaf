package load

import (
	"cmp"
	"encoding/json"
	"io"
)

// Report is what a run came to.
type Report struct {
	// Timeout is the time of each question in seconds.
	Timeout float64 `json:"timeout_s"`
	// Steps are in their order.
	Steps []Result `json:"steps"`
	// Overload is there where one was asked for.
	Overload *Overloaded `json:"overload,omitempty"`
	// Seconds are the run second by second.
	Seconds []Second `json:"seconds"`
}

// Result is what a step came to.
type Result struct {
	// Name is the step's; empty if it has none.
	Name string `json:"name,omitempty"`
	// Rate is how many questions were to be asked per second.
	Rate float64 `json:"rate"`
	// At and Length are when the step began and how long it lasted, in seconds.
	At     float64 `json:"at_s"`
	Length float64 `json:"length_s"`
	// Goodput is how many whole answers came per second while it lasted.
	Goodput float64 `json:"goodput"`
	Figures
	// Tenants are there if there are several.
	Tenants []TenantResult `json:"tenants,omitempty"`
}

// TenantResult is what a step came to for one tenant.
type TenantResult struct {
	Name string `json:"name"`
	Figures
}

// Counts are of questions that were to be asked in a step. Sent is the sum of
// Whole, Partial, Late, Refused, Failed and Cut.
type Counts struct {
	// Sent were asked; Unsent were not, because too many were under way.
	Sent   int `json:"sent"`
	Unsent int `json:"unsent"`
	// Whole were answered in their time, Partial were with what had been found.
	Whole   int `json:"whole"`
	Partial int `json:"partial"`
	// Late are those whose time ran out.
	Late int `json:"late"`
	// Refused were turned away for lack of capacity.
	Refused int `json:"refused"`
	// Failed are all others.
	Failed int `json:"failed"`
	// Cut were under way when the run was interrupted.
	Cut int `json:"cut,omitempty"`
}

// Figures are those of a step, or of one tenant in it.
type Figures struct {
	Counts
	// WholePerSecond is Whole by the step's length: by when questions were asked,
	// where Result.Goodput goes by when answers came.
	WholePerSecond float64 `json:"whole_per_s"`
	// Refusals are the refused, by kind, and Failures the failed, by code.
	Refusals []Refusal      `json:"refusals,omitempty"`
	Failures map[string]int `json:"failures,omitempty"`
	// Latency is of whole answers, RefusalLatency of refusals, and Behind how much
	// later than they should questions were asked: much of that, and the machine
	// that asks is the bottleneck.
	Latency        Quantiles `json:"latency"`
	RefusalLatency Quantiles `json:"refusal_latency"`
	Behind         Quantiles `json:"behind"`
	// Stages are those of whole answers, in the order in which they end.
	Stages []StageFigures `json:"stages,omitempty"`
}

// Refusal is a kind of refusal.
type Refusal struct {
	// Code is gRPC's.
	Code string `json:"code"`
	// RetryInfo reports whether the refusal told when to come again.
	RetryInfo bool `json:"retry_info"`
	// ByClient reports whether the client refused by itself, as the mesh refused
	// much of what was asked before.
	ByClient bool `json:"by_client,omitempty"`
	// Count is how many there were.
	Count int `json:"count"`
}

func (r Refusal) compare(other Refusal) int {
	return cmp.Or(cmp.Compare(other.Count, r.Count), cmp.Compare(r.Code, other.Code))
}

// Quantiles are those of some times, in milliseconds, from an HDR histogram.
type Quantiles struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50_ms"`
	P90   float64 `json:"p90_ms"`
	P99   float64 `json:"p99_ms"`
	Max   float64 `json:"max_ms"`
}

// StageFigures are the times of a stage.
type StageFigures struct {
	Stage string `json:"stage"`
	Quantiles
}

// WriteJSON prints a report as scripts read it.
func (r *Report) WriteJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
