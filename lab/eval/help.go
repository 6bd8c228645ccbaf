package eval

// HelpTexts are the help texts that are too long for a struct tag: kong variables.
var HelpTexts = map[string]string{
	"eval_questions": "Questions with their right answers, as published or as JSON Lines: id, question, answers, " +
		"topic_entities.",
	"eval_dataset": "Published set of questions by its name, as `triplemesh eval fetch` fetched it.",
	"eval_suite": "Evaluations to run one after the other, YAML; takes the place of the flags that say what is " +
		"evaluated.",
	"eval_format": "Format of the questions, such as webqsp, metaqa or open; docs/methods.md lists all. (default: " +
		"found out)",
	"eval_names":    "Names of the ids in the questions' answers and topic entities: an id, a tab and a name a line.",
	"eval_kg":       "Knowledge graph to ask, or one snapshot of it, such as wikidata@3.",
	"eval_other_kg": "Knowledge graph to read beside it; may be given again.",
	"eval_method": "Methods to evaluate, each by the same questions; the others are compared with the first. " +
		"(default: pg-akv)",
	"eval_limit": "Ask a sample of N questions; 0 asks all. A smaller sample is the beginning of a larger one by " +
		"the same seed.",
	"eval_gold_entities": "Give the dataset's topic entities with each question; otherwise they are linked. " +
		"Questions that have none are linked either way.",
	"eval_answer_form":   "What answers look like: entities or text. (default: taken from each question)",
	"eval_abstain_below": "Answer that it is not in the knowledge graph where the confidence is below this, 0 to 1.",
	"eval_calibrated_on": "Questions that thresholds were chosen by or a model was trained on; warns of those " +
		"that are asked. May be given again.",
	"eval_relation_paths": "Relation paths to be followed instead of planned ones, as JSON Lines: id, paths.",
	"eval_part": "Part of the questions to ask, by a hash of their ids: tune, validate, report or all; " +
		"docs/evaluation.md has the rule. Figures are published on report, which nothing is chosen by. (default: all)",
	"eval_calibrated_part": "Part of the files of --calibrated-on that was read: tune, validate or all. (default: " +
		"tune)",
	"eval_reader": "Answer the calls that read evidence from the right answers instead of the model: oracle, or " +
		"oracle:0.2 to err in 20 % of them; needs --local. (default: the model reads)",
	"eval_out": "Directory that keeps every run; of several evaluations each has a directory in it. The same " +
		"command resumes an earlier run, and asks again only what failed.",
}
