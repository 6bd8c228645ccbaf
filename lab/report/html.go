package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
)

//go:embed assets/page.html
var pageText string

//go:embed assets/style.css
var styleText string

//go:embed assets/script.js
var scriptText string

// page is what the template is filled with.
type page struct {
	*Report
	// Policy lets the page run its own script and no other, and fetch nothing.
	Policy string
	Style  template.CSS
	Script template.JS
	// Steps are those at which a question can be lost.
	Steps []LossStep
	// Packs are the details of all questions: letters of base64, which mean
	// nothing to HTML.
	Packs []template.HTML
}

// HTML writes the report as a page that needs nothing besides itself. Every run
// is read once, one at a time; what is kept of it is compressed.
func (r *Report) HTML(w io.Writer) error {
	var packer Packer
	at, err := pack(r.evaluations, &packer)
	if err != nil {
		return err
	}
	packs, err := packer.Packs()
	if err != nil {
		return err
	}
	p := page{
		Report: r, Style: template.CSS(styleText), Script: template.JS(scriptText), Steps: LossSteps(),
		Policy: fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'",
			hash(scriptText), hash(styleText)),
	}
	for _, text := range packs {
		p.Packs = append(p.Packs, template.HTML(text))
	}
	for _, s := range r.Sections {
		s.questions(at)
	}
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	buffered := bufio.NewWriterSize(w, 1<<16)
	if err := t.Execute(buffered, p); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// hash names a script or a style for a policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
