package calibrate

// HelpTexts are the help texts that are too long for a struct tag: kong variables.
var HelpTexts = map[string]string{
	"calibrate_questions": "Questions with known answers, in any format that eval reads.",
	"calibrate_limit":     "Take a sample of N questions; 0 takes all. One model call each.",
	"calibrate_price": "By how much a triple more in each ground graph must raise the share of questions with an " +
		"answer in it.",
	"calibrate_out": "Configuration file to set retriever.grounding in; - writes none. (default: triplemesh.yaml)",
}
