package propose_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/propose"
)

// sheetOf writes a file and opens it as a sheet.
func sheetOf(t *testing.T, text string) (*propose.Sheet, string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "proposed.tsv")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	sheet, err := propose.OpenSheet(path)
	return sheet, path, err
}

func TestASheetIsReadAsSpreadsheetsSaveIt(t *testing.T) {
	for name, text := range map[string]string{
		"as it was written": "accept\tsubject\trelation\tobject\tsentence\ny\tAda\tsaid\thi\t\"He said " +
			"\"\"hi\"\".\"\n",
		"with quotes as an editor leaves": "accept\tsubject\trelation\tobject\tsentence\ny\tAda\tsaid\thi\tHe said " +
			"\"hi\".\n",
		"with commas": "accept,subject,relation,object,sentence\nyes,Ada,said,hi,\"He said " +
			"\"\"hi\"\".\"\n",
		"with semicolons, quotes and CR": "\"accept\";\"subject\";\"relation\";\"object\";\"sentence\"\r\n\"x\";" +
			"\"Ada\";\"said\";\"hi\";\"He said \"\"hi\"\".\"\r\n",
		"with a byte order mark": "\xef\xbb\xbfaccept\tsubject\trelation\tobject\tsentence\nTRUE\tAda\tsaid\t" +
			"hi\t\"He said \"\"hi\"\".\"\n",
		"with columns moved and added": "object\tmine\taccept\tsubject\trelation\tsentence\nhi\t!\t1\tAda\tsaid\t" +
			"\"He said \"\"hi\"\".\"\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			sheet, _, err := sheetOf(t, text)
			if err != nil {
				t.Fatal(err)
			}
			rows := sheet.Rows()
			if len(rows) != 1 || rows[0].Mark != propose.Accepted || rows[0].Subject != "Ada" ||
				rows[0].Object != "hi" || rows[0].Sentence != `He said "hi".` {
				t.Errorf("got %+v", rows)
			}
			if !propose.IsSheet([]byte(text)) {
				t.Error("it is not known as one")
			}
		})
	}
}

func TestWhatIsWrongWithASheetIsSaidWithItsLine(t *testing.T) {
	_, _, err := sheetOf(t, "accept\tsubject\trelation\tobject\ny\ta\tb\tc\nperhaps\ta\tb\tc\n")
	if err == nil || !strings.Contains(err.Error(), `proposed.tsv:3: accept is "perhaps"; write y`) {
		t.Errorf("got %v", err)
	}
}

func TestASpreadsheetComputesNothing(t *testing.T) {
	sheet, path, err := sheetOf(t, "accept\tsubject\trelation\tobject\n")
	if err != nil {
		t.Fatal(err)
	}
	nasty := []string{"=HYPERLINK(1)", "+1", "-5", "@x", "'=1", "''+2", "'s-Hertogenbosch"}
	for _, text := range nasty {
		if _, err := sheet.Add([]propose.Row{{Subject: text, Relation: "is", Object: "bad\tthing\n",
			File: "=x.md"}}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n")[1:] {
		for _, cell := range strings.Split(line, "\t") {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@") {
				t.Errorf("the cell %q would be computed", cell)
			}
		}
	}
	again, err := propose.OpenSheet(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range again.Rows() {
		if row.Subject != nasty[i] || row.Object != "bad thing" || row.File != "=x.md" {
			t.Errorf("%q became %q, %q, %q", nasty[i], row.Subject, row.Object, row.File)
		}
	}
}

func TestAFactWithoutItsTimeSaysNothingNew(t *testing.T) {
	sheet, _, err := sheetOf(t, "accept\tsubject\trelation\tobject\n")
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range []propose.Row{
		{Subject: "Ada", Relation: "employer", Object: "Mill", From: "1840", File: "a.md", Line: 1},
		{Subject: "ada", Relation: "Employer", Object: "Mill", File: "a.md", Line: 2},
		{Subject: "Ada", Relation: "employer", Object: "Mill", From: "1850", File: "a.md", Line: 3},
	} {
		want := []int{1, 0, 1}[i]
		if added, err := sheet.Add([]propose.Row{row}); err != nil || added != want {
			t.Errorf("row %d added %d, want %d, error %v", i, added, want, err)
		}
	}
	if also := sheet.Rows()[0].Also; also != "a.md:2" {
		t.Errorf("it also stands in %q", also)
	}
}

func TestWriteAccepted(t *testing.T) {
	sheet := "accept\tsubject\trelation\tobject\tfrom\tto\tsubject_like\tobject_like\n" +
		"y\tAda\tknows\tBob\t\t\tAda Lovelace\t\n" +
		"s\tAda\tlikes\ttea\t1840\t\tAda Lovelace\t\n" +
		"n\tAda\tis\ta horse\t\t\t\t\n" +
		"\tAda\tis\ta bird\t\t\t\t\n" +
		"y\t\"A\tda\"\tis\tx\t\t1850\t\t\n"
	var out bytes.Buffer
	done, err := propose.WriteAccepted("x.tsv", strings.NewReader(sheet), &out)
	if want := "Ada\tknows\tBob\nAda Lovelace\tlikes\ttea\t1840\t\nA da\tis\tx\t\t1850\n"; err != nil ||
		out.String() != want {
		t.Errorf("wrote %q, want %q, error %v", out.String(), want, err)
	}
	if done.String() != "3 accepted, 1 rejected, 1 not reviewed" {
		t.Errorf("said %s", done)
	}
}

func FuzzSheet(f *testing.F) {
	for _, seed := range []string{"y\ta\tb\tc\n", "\t\"a\tb\tc", "n\t'=a\tb\t\xff\td\te\n\n",
		"s\t\"x\"\"\n\"\tb\tc\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		text := "accept\tsubject\trelation\tobject\tfrom\tto\n" + lines
		var out bytes.Buffer
		done, err := propose.WriteAccepted("x.tsv", strings.NewReader(text), &out)
		if err != nil {
			return
		}
		written := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if out.Len() > 0 && len(written) != done.Accepted {
			t.Errorf("%q: %d accepted, %d lines", lines, done.Accepted, len(written))
		}
		for _, line := range written {
			if n := strings.Count(line, "\t"); out.Len() > 0 && n != 2 && n != 4 {
				t.Errorf("%q: the line %q", lines, line)
			}
		}
	})
}
