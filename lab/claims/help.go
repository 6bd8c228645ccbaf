package claims

// HelpTexts are the help texts that are too long for a struct tag: kong variables.
var HelpTexts = map[string]string{
	"claims_facts": "Facts that the knowledge graph was loaded from: subject, relation and object, TSV, may be " +
		"packed by gzip.",
	"claims_prose": "Open questions with reference texts: check sentences that people wrote, with seeded errors, in " +
		"place of templates.",
	"claims_questions": "Check nothing: write yes/no questions and questions with a false premise about the claims, " +
		"with their answers, for triplemesh eval.",
	"claims_lacking": "With --questions: ask the questions of this file, of the part --part, about other entities of " +
		"the same kind that lack what they ask for; at most --claims of them. No answer is right. The word " +
		"\"wordings\" in place of a file asks in words that the program has for relations of Wikidata.",
	"claims_out": "Directory that keeps what was found of each claim. The same command resumes an interrupted " +
		"run.",
}
