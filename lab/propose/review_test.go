package propose_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/propose"
)

// desk types keys; after e it types lines.
type desk struct {
	keys    string
	lines   []string
	shown   []string
	notices []string
}

func (d *desk) Show(row propose.Row, _, _ int, notice string) {
	d.shown = append(d.shown, row.Subject)
	if notice != "" {
		d.notices = append(d.notices, notice)
	}
}

func (d *desk) Key() (rune, error) {
	if d.keys == "" {
		return 0, io.EOF
	}
	key := rune(d.keys[0])
	d.keys = d.keys[1:]
	return key, nil
}

func (d *desk) Edit(_, _ string) (string, error) {
	if len(d.lines) == 0 {
		return "", io.EOF
	}
	line := d.lines[0]
	d.lines = d.lines[1:]
	return line, nil
}

func TestReview(t *testing.T) {
	const three = "accept\tsubject\trelation\tobject\tsubject_like\n\tA\tis\tx\t\n\tB\tis\ty\tBee\nn\tC\tis\tz\t\n\t" +
		"D\tis\tw\t\n"
	for name, c := range map[string]struct {
		desk    desk
		want    string // subject:mark
		shown   string
		decided int
		notice  string
	}{
		"y, s and n decide": {desk: desk{keys: "ysn"}, want: "A:y B:s C:n D:n",
			shown: "A B D", decided: 3},
		"what was decided on is not shown again": {desk: desk{keys: "y"}, want: "A:y B: C:n D:",
			shown: "A B", decided: 1},
		"q ends, and so does the end of input": {desk: desk{keys: "yq"}, want: "A:y B: C:n D:",
			shown: "A B", decided: 1},
		"Ctrl-C ends too": {desk: desk{keys: "\x03"}, want: "A: B: C:n D:", shown: "A"},
		"space passes over": {desk: desk{keys: "  y"}, want: "A: B: C:n D:y",
			shown: "A B D", decided: 1},
		"b goes back": {desk: desk{keys: "yybnnn"}, want: "A:y B:n C:n D:n",
			shown: "A B D B D", decided: 3},
		"b at the start says so": {desk: desk{keys: "bq"}, want: "A: B: C:n D:", shown: "A A",
			notice: "nothing was decided on"},
		"s without a suggestion says so": {desk: desk{keys: "sq"}, want: "A: B: C:n D:", shown: "A A",
			notice: "no other names"},
		"another key says which there are": {desk: desk{keys: "wq"}, want: "A: B: C:n D:", shown: "A A",
			notice: "y accepts"},
		"e edits, and an empty line keeps": {desk: desk{keys: "eyq", lines: []string{"Ann\x1b[31m", "", " "}},
			want: "Ann [31m:y B: C:n D:", shown: "A Ann [31m B", decided: 1},
		"an edited name has no suggestion left": {desk: desk{keys: " esq", lines: []string{"Bert"}},
			want: "A: Bert: C:n D:", shown: "A B Bert Bert", notice: "no other names"},
		"capital letters are letters": {desk: desk{keys: "YNY"}, want: "A:y B:n C:n D:y",
			shown: "A B D", decided: 3},
	} {
		t.Run(name, func(t *testing.T) {
			_, path, err := sheetOf(t, three)
			if err != nil {
				t.Fatal(err)
			}
			decided, err := propose.Review(path, &c.desk)
			if err != nil || decided != c.decided {
				t.Errorf("%d decided, error %v", decided, err)
			}
			sheet, err := propose.OpenSheet(path)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, row := range sheet.Rows() {
				got = append(got, row.Subject+":"+string(row.Mark))
			}
			if strings.Join(got, " ") != c.want || strings.Join(c.desk.shown, " ") != c.shown ||
				!strings.Contains(strings.Join(c.desk.notices, " "), c.notice) {
				t.Errorf("got %q, shown %q, notices %q", got, c.desk.shown, c.desk.notices)
			}
		})
	}
}

type broken struct{ desk }

func (broken) Key() (rune, error) { return 0, errors.New("no terminal") }

func TestAReviewTellsWhatBreaks(t *testing.T) {
	_, path, err := sheetOf(t, "accept\tsubject\trelation\tobject\n\tA\tis\tx\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := propose.Review(path, &broken{}); err == nil || err.Error() != "no terminal" {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := propose.Review(path, &desk{}); err == nil {
		t.Error("what is no sheet is reviewed")
	}
}
