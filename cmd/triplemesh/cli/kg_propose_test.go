package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// ProposeTriples reads "Ada knows Bob." as a fact.
func (s *services) ProposeTriples(_ context.Context,
	req *orchestratorv1.ProposeTriplesRequest) (*orchestratorv1.ProposeTriplesResponse, error) {
	resp := &orchestratorv1.ProposeTriplesResponse{}
	for sentence := range strings.SplitSeq(req.GetText(), ".") {
		if words := strings.Fields(sentence); len(words) == 3 {
			resp.Triples = append(resp.Triples, &orchestratorv1.ProposedTriple{
				Triple: &graphv1.Triple{Subject: words[0], Relation: words[1], Object: words[2]},
				Span:   &graphv1.TextSpan{End: uint32(len(req.GetText()))},
			})
		}
	}
	return resp, s.err
}

// notes writes files into a folder of the test's own and returns it.
func notes(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestProposalsAreReviewedAndLoaded(t *testing.T) {
	s := serve(t, &services{})
	dir := notes(t, map[string]string{"a.md": "Ada\x1b knows Bob. Bob knows Cleo.", "b.txt": "Cleo knows Dan.",
		"c.pdf": "", "d.txt": "caf\xe9"})
	sheet := filepath.Join(dir, "proposed.tsv")
	triplemesh(t, nil, "", "kg", "propose", dir, "--out", sheet, "--server", s.addr).Expect(t, ExitOK,
		"3 triples of 3 sentences in 2 files, 3 of them new; 3 triples to review", "kg review "+
			sheet, "1 other file skipped", "not UTF-8")
	triplemesh(t, nil, "", "kg", "load", "people", sheet, "--retriever", s.addr).Expect(t, ExitUsage,
		"no triple is accepted yet", "kg review")
	triplemesh(t, nil, "y\nn\n", "kg", "review", sheet).Expect(t, ExitOK, "1 of 3", "a.md:1",
		"Ada | knows | Bob", "Bob | knows | Cleo",
		"2 decided now; 1 accepted, 1 rejected, 1 not reviewed", "kg load NAME")
	triplemesh(t, nil, "", "kg", "load", "people", sheet, "--retriever", s.addr).Expect(t, ExitOK, "people@7",
		"skipped: ", "1 rejected and 1 not reviewed; 1 are accepted")
	if got := s.files["proposed.tsv FORMAT_TSV"]; got != "Ada\tknows\tBob\n" {
		t.Errorf("loaded were %q of %q", got, s.files)
	}
	triplemesh(t, nil, "e\nDora\n\n\ny\n", "kg", "propose", dir, "--out", sheet, "--review", "--server",
		s.addr).Expect(t, ExitOK, "0 of them new", "subject [Cleo]", "2 accepted, 1 rejected, 0 not reviewed")
	triplemesh(t, nil, "", "kg", "load", "people", sheet, "--retriever", s.addr).Expect(t, ExitOK)
	if got := s.files["proposed.tsv FORMAT_TSV"]; !strings.Contains(got, "Dora\tknows\tDan\n") {
		t.Errorf("loaded were %q", got)
	}
}

func TestProposeUsage(t *testing.T) {
	dir := notes(t, map[string]string{"a.md": "Ada knows Bob.", "x.pdf": "",
		"bad.tsv": "accept\tsubject\trelation\tobject\nmaybe\ta\tb\tc\n", "latin.txt": "caf\xe9"})
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"a folder that is not there": {[]string{"kg", "propose", filepath.Join(dir, "nowhere")},
			[]string{"nowhere"}},
		"a folder without texts": {[]string{"kg", "propose", t.TempDir()},
			[]string{"no .txt or .md files"}},
		"a file of another kind": {[]string{"kg", "propose", filepath.Join(dir, "x.pdf")},
			[]string{"x.pdf: only .txt, .md"}},
		"a file in another encoding": {[]string{"kg", "propose", filepath.Join(dir, "latin.txt")},
			[]string{"not UTF-8", "iconv"}},
		"a review of nothing": {[]string{"kg", "review", filepath.Join(dir, "none.tsv")},
			[]string{"none.tsv", "kg propose FOLDER"}},
		"a sheet with a mark that is no one": {[]string{"kg", "load", "people", filepath.Join(dir, "bad.tsv")},
			[]string{"bad.tsv:2", `accept is "maybe"`}},
	} {
		t.Run(name, func(t *testing.T) { triplemesh(t, nil, "", c.args...).Expect(t, ExitUsage, c.says...) })
	}
}

func TestWhatWasProposedBeforeAFailureStays(t *testing.T) {
	s := serve(t, &services{})
	dir := notes(t, map[string]string{"a.md": "Ada knows Bob."})
	sheet := filepath.Join(dir, "proposed.tsv")
	triplemesh(t, nil, "", "kg", "propose", dir, "--out", sheet, "--server", s.addr).Expect(t, ExitOK)
	s.err = status.Error(codes.PermissionDenied, "you may not")
	if err := os.WriteFile(filepath.Join(dir, "b.md"), []byte("Bob knows Cleo."), 0o644); err != nil {
		t.Fatal(err)
	}
	triplemesh(t, nil, "", "kg", "propose", dir, "--out", sheet, "--server", s.addr).Expect(t,
		ExitFailed, "you may not")
	text, err := os.ReadFile(sheet)
	if err != nil || !strings.Contains(string(text), "Ada\tknows\tBob") {
		t.Errorf("the sheet is %q, %v", text, err)
	}
	triplemesh(t, nil, "", "kg", "propose", dir, "--out", sheet, "--server", testkit.FreeAddr(t)).Expect(t,
		exitUnreachable)
}
