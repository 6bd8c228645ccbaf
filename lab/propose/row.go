package propose

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Mark is what a reviewer made of a proposal.
type Mark string

const (
	// Open is not decided on yet.
	Open Mark = ""
	// Accepted goes into the knowledge graph as it stands.
	Accepted Mark = "y"
	// AcceptedLike goes in under the names that were suggested.
	AcceptedLike Mark = "s"
	// Rejected does not go in.
	Rejected Mark = "n"
)

// marks are how people write them.
var marks = map[string]Mark{
	"": Open, "?": Open,
	"y": Accepted, "yes": Accepted, "x": Accepted, "1": Accepted, "true": Accepted, "ok": Accepted,
	"s": AcceptedLike, "same": AcceptedLike,
	"n": Rejected, "no": Rejected, "0": Rejected, "false": Rejected,
}

func parseMark(text string) (Mark, error) {
	m, ok := marks[strings.ToLower(strings.TrimSpace(text))]
	if !ok {
		return "", fmt.Errorf("accept is %q; write y to accept, s to accept with the names of subject_like and "+
			"object_like, n to reject, or nothing", text)
	}
	return m, nil
}

// Row is one proposal: a line of the sheet.
type Row struct {
	Mark                      Mark
	Subject, Relation, Object string
	// From and To are when the text says that it held; may be empty.
	From, To string
	// SubjectLike and ObjectLike are names that may mean the same as Subject and
	// Object; empty if there are none.
	SubjectLike, ObjectLike string
	// Sentence is where it was read, on one line.
	Sentence string
	// File and Line are where the sentence stands, Start and End the characters
	// of the file that say it, the last of them not included.
	File             string
	Line, Start, End int
	// Also are other places that say the same, separated by spaces.
	Also string
	// ID names the proposal, however a reviewer rewrites it; empty in a line that
	// a reviewer wrote.
	ID string
}

// columns are the headings of a sheet, in order.
var columns = []string{"accept", "subject", "relation", "object", "from", "to", "subject_like", "object_like",
	"sentence", "file", "line", "characters", "also", "id"}

func (r *Row) cells() []string {
	line, characters := "", ""
	if r.Line > 0 {
		line, characters = strconv.Itoa(r.Line), fmt.Sprintf("%d..%d", r.Start, r.End)
	}
	return []string{string(r.Mark), r.Subject, r.Relation, r.Object, r.From, r.To, r.SubjectLike, r.ObjectLike,
		r.Sentence, r.File, line, characters, r.Also, r.ID}
}

// parseRow reads a line by its headings.
func parseRow(cell func(column string) string) (Row, error) {
	r := Row{
		Subject: cell("subject"), Relation: cell("relation"), Object: cell("object"), From: cell("from"),
		To:          cell("to"),
		SubjectLike: cell("subject_like"), ObjectLike: cell("object_like"),
		Sentence: cell("sentence"), File: cell("file"), Also: cell("also"), ID: cell("id"),
	}
	var err error
	if r.Mark, err = parseMark(cell("accept")); err != nil {
		return r, err
	}
	// Where it stands is for people to read: what they made of it is no fault.
	r.Line, _ = strconv.Atoi(cell("line"))
	start, end, _ := strings.Cut(cell("characters"), "..")
	r.Start, _ = strconv.Atoi(start)
	r.End, _ = strconv.Atoi(end)
	return r, nil
}

// tidy puts every cell on one line and names the row by what it says, whatever
// the case of its letters.
func (r *Row) tidy() {
	for _, cell := range []*string{&r.Subject, &r.Relation, &r.Object, &r.From, &r.To, &r.Sentence, &r.File} {
		*cell = strings.Join(strings.Fields(strings.Map(oneLine, *cell)), " ")
	}
	sum := sha256.New()
	for _, part := range []string{r.Subject, r.Relation, r.Object, r.From, r.To} {
		fmt.Fprintf(sum, "%d:%s", len(part), strings.ToLower(part))
	}
	// A letter in front keeps spreadsheets from reading a number.
	r.ID = "t" + hex.EncodeToString(sum.Sum(nil)[:6])
}

// Names returns the subject and the object under which the row goes in.
func (r *Row) Names() (subject, object string) {
	subject, object = r.Subject, r.Object
	if r.Mark == AcceptedLike && r.SubjectLike != "" {
		subject = r.SubjectLike
	}
	if r.Mark == AcceptedLike && r.ObjectLike != "" {
		object = r.ObjectLike
	}
	return subject, object
}

// Place says where the row was read: "notes/a.md:12"; empty where a reviewer
// wrote it.
func (r *Row) Place() string {
	if r.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", r.File, r.Line)
}

// oneLine takes control characters out of a cell.
func oneLine(c rune) rune {
	if unicode.IsControl(c) {
		return ' '
	}
	return c
}
