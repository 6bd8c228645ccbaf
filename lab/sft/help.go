package sft

// HelpTexts are the help texts that are too long for a struct tag: kong variables.
var HelpTexts = map[string]string{
	"sft_questions": "Questions to learn from, with their answers and topic entities, in any format that eval reads.",
	"sft_feedback":  "Feedback to learn from, instead of questions: a file that triplemesh feedback export wrote.",
	"sft_tasks":     "relation-paths,candidate-answers,evaluate-question,evaluate-answer,reflect",
	"sft_task": "Examples of this task alone: relation-paths, candidate-answers, evaluate-question, " +
		"evaluate-answer or reflect. May be given again.",
	"sft_runs": "Learn from the mistakes of recorded runs too: a directory that eval --out wrote. May be given again.",
	"sft_not_in": "Test set that must hold none of the questions: a file of questions, or a directory that eval " +
		"--out wrote. May be given again.",
	"sft_paths_apart": "Make an example of each relation path, for planners that are decoded by beam search; " +
		"otherwise a question has one with all of them.",
}
