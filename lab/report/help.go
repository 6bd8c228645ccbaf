package report

// HelpTexts are the help texts that are too long for a struct tag: kong variables.
var HelpTexts = map[string]string{
	"report_out":      "Write a page of HTML, all in one file. (report.html where --markdown is not given either)",
	"report_baseline": "Method, or name of an evaluation, that the others of its dataset are compared with.",
}
