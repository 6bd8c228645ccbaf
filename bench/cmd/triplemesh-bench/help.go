package main

import "github.com/alecthomas/kong"

// helpTexts are the help texts that are too long for a struct tag.
var helpTexts = kong.Vars{
	"neo4j_help": "Neo4j server to measure too, such as bolt://127.0.0.1:7687. WHAT IT HOLDS IS REMOVED. NEO4J_USER " +
		"and NEO4J_PASSWORD are read from the environment.",
	"work_help":  "Directory for generated files while it runs. (default: the system's temporary directory)",
	"peers_help": "Measure FAISS, ONNX Runtime in Python and NetworkX too; pip fetches them once.",
	"scripted_help": "Ask a mesh that is started in this process: six services over gRPC, made-up facts, and a " +
		"model with scripted answers.",
	"rate_help": "Questions per second: 5,10,20 asks at each rate in turn, 5..80 doubles from 5 to 80.",
	"overload_help": "Find the capacity, starting at --rate; then ask at half of it, at all of it, at each of " +
		"--times of it, and at half again.",
	"find_help": "How long each rate is tried while the capacity is searched.",
	"questions_help": "Questions, one a line, or JSON Lines with question and topic_entities. Required without " +
		"--scripted.",
	"in_flight_help": "Maximum of questions in flight; those beyond are counted but not asked.",
	"tenant_help": "Tenant: its share of the rate, and the file of its token. May be given again; a --scripted mesh " +
		"needs no files.",
	"engine_only":      "Measure only this: search, bits, large, encode, ground, walk or load. May be given again.",
	"engine_triples":   "Triples to load, for all but search, large and load.",
	"engine_questions": "Questions about them, JSON Lines, for bits and ground.",
	"engine_plans":     "Relation paths in them, JSON Lines of question, topic and relations, for walk.",
	"ask_questions":    "Questions, one a line, or JSON Lines with question and topic_entities.",
	"ask_wait":         "How long to wait before the first question, such as for prompts to be warmed.",
	"load_kg":          "Knowledge graph; otherwise the only one there is.",
}
