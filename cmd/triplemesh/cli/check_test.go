package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// checks are services that check every text alike.
type checks struct {
	checked *orchestratorv1.Check
	asked   *orchestratorv1.CheckRequest
	err     error
}

func (c *checks) CheckStream(req *orchestratorv1.CheckStreamRequest,
	stream grpc.ServerStreamingServer[orchestratorv1.CheckStreamResponse]) error {
	c.asked = req.GetRequest()
	if c.err != nil {
		return c.err
	}
	progress := &orchestratorv1.CheckStreamResponse_Progress{Progress: &orchestratorv1.CheckProgress{Read: 1, Total: 2}}
	if err := stream.Send(&orchestratorv1.CheckStreamResponse{Event: progress}); err != nil || c.checked == nil {
		return err
	}
	return stream.Send(&orchestratorv1.CheckStreamResponse{Event: &orchestratorv1.CheckStreamResponse_Check{
		Check: c.checked}})
}

// checkedText returns a checked text with one claim.
func checkedText(verdict verifierv1.Verdict) *orchestratorv1.Check {
	return &orchestratorv1.Check{Text: "Stam works at Google.", CorrectedText: "Stam works at Google.",
		Claims: []*orchestratorv1.Claim{{
			Triple: &graphv1.Triple{Subject: "Stam", Relation: "employer", Object: "Google"}, Verdict: verdict,
			Reason: "so it is",
		}}}
}

func TestCheckCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text.txt")
	if err := os.WriteFile(file, []byte("Stam works at Google."), 0o600); err != nil {
		t.Fatal(err)
	}
	partial := checkedText(verifierv1.Verdict_VERDICT_UNSPECIFIED)
	partial.Partial = true
	for _, c := range []struct {
		name    string
		checked *orchestratorv1.Check
		args    []string
		stdin   string
		code    int
		says    string
	}{
		{"nothing is contradicted", checkedText(verifierv1.Verdict_VERDICT_SUPPORTED), []string{file}, "", ExitOK,
			"1. supported: Stam | employer | Google"},
		{"something is", checkedText(verifierv1.Verdict_VERDICT_CONTRADICTED), []string{file}, "", exitContradicted,
			"1. contradicted"},
		{"a text from standard input", checkedText(verifierv1.Verdict_VERDICT_NOT_IN_KG), []string{"-"},
			"Stam works at Google.", ExitOK, "not in the graph"},
		{"as JSON", checkedText(verifierv1.Verdict_VERDICT_CONTRADICTED), []string{file, "--json"}, "",
			exitContradicted,
			`"VERDICT_CONTRADICTED"`},
		{"one that was not checked to its end", partial, []string{file}, "", ExitFailed, "ended early"},
		{"a stream that ends too soon", nil, []string{file}, "", ExitFailed, "before the check was complete"},
		{"a file that is not there", nil, []string{file + ".none"}, "", ExitUsage, "read the text"},
		{"an empty text", nil, []string{"-"}, " \n", ExitUsage, "the text is empty"},
		{"a text that is too long", nil, []string{"-"}, strings.Repeat("x", maxText+1), ExitUsage, "split it"},
		{"bytes that are no text", nil, []string{"-"}, "\xff\xfe", ExitUsage, "not UTF-8"},
		{"a snapshot that cannot be", nil, []string{file, "--kg", "wikidata@x"}, "", ExitUsage, "--kg"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, &services{kgs: []*retrieverv1.SnapshotInfo{snapshot("mars", 1, true)}})
			s.check = &checks{checked: c.checked}
			args := append([]string{"check", "--server", s.addr, "--retriever", s.addr}, c.args...)
			triplemesh(t, nil, c.stdin, args...).Expect(t, c.code, c.says)
		})
	}
}

func TestACheckAsksForWhatWasSaid(t *testing.T) {
	s := serve(t, &services{})
	s.check = &checks{checked: checkedText(verifierv1.Verdict_VERDICT_SUPPORTED)}
	triplemesh(t, nil, "Zoë sings.\r\n", "check", "-", "--server", s.addr, "--kg", "wikidata@3", "--kg", "staff",
		"--model", "m", "--max-calls", "7").Expect(t, ExitOK, "")
	req := s.check.asked
	if req.GetText() != "Zoë sings.\r\n" || req.GetKg().GetSnapshot() != 3 || len(req.GetOtherKgs()) != 1 ||
		req.GetLimits().GetModel().GetModel() != "m" || req.GetLimits().GetBudget().GetMaxCalls() != 7 {
		t.Errorf("asked %v", req)
	}
}
