package report

// ScorecardHelpTexts are the help texts that are too long for a struct tag: kong variables.
var ScorecardHelpTexts = map[string]string{
	"scorecard_file": "Scorecard, YAML: a list of thresholds, each with dataset, kg, method, metric, and at_least " +
		"or at_most.",
	"scorecard_tolerance": "How much worse than now still passes, for --update: 0.02 is two points of a score, " +
		"and two per cent of anything else.",
}
