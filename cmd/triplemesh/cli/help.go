package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// helpTexts are the help texts that are too long for a struct tag.
var helpTexts = kong.Vars{
	"cache_help": "Directory of downloaded files. (TRIPLEMESH_CACHE; in a checkout .cache, otherwise the user's " +
		"cache directory)",
	"data_help": "Directory of knowledge graphs and runs. (TRIPLEMESH_HOME; in a checkout .cache/data, otherwise the " +
		"user's data directory)",
	"config_help": "Configuration file, YAML, one for all services.",
	"set_help":    "One setting, such as verifier.mode=edits. Repeatable.",
	"formats":     strings.Join(append([]string{""}, slices.Sorted(maps.Keys(formats))...), ","), // "" for kong's enum
	"stages": "pseudo-graph, ground-graph, verify, answer (pg-akv); link, paths, candidates, evaluate-question, " +
		"evaluate-answers, reflect (ger); triplemesh methods lists those of every method",
	"access_tls":  "Use TLS and trust this machine's CAs. Implied by --ca.",
	"access_ca":   "Use TLS and trust the CAs in this PEM file.",
	"access_cert": "Client certificate, PEM.",
	"access_key":  "Private key of the client certificate, PEM.",
	"token_token": "Token to send to servers. Other users of this machine may see it in the process list: prefer " +
		"the variable or --token-file.",
	"token_insecure_token": "Send the token to other machines over plain connections too, where it can be intercepted.",
	"ask_kg": "Knowledge graph, or one snapshot of it, such as wikidata@3; repeatable to read several. " +
		"(default: the only one there is)",
	"ask_topic": "Topic entity, by exact name or id, such as Q42; repeatable. By default, entities are linked " +
		"from the question.",
	"ask_plan": "What to compute, instead of a plan of the model: as --explain shows drafts, or Cypher MATCH … " +
		"RETURN. Sets --method query.",
	"ask_verification":        "How the pseudo-graph is corrected: align, edits or rewrite.",
	"ask_reflection":          "How ger decides on the answers: weigh or model.",
	"ask_preset":              "Grounding parameters: default or paper.",
	"ask_at":                  "Use only triples that are valid at this date, such as 2005 or 2005-03-01 (pg-akv).",
	"ask_abstain_below":       "Abstain when the confidence is below this, 0 to 1.",
	"ask_compare":             "Answer with several methods and compare them.",
	"server":                  "Address of the orchestrator, host:port. (default: as configured, 127.0.0.1:9090)",
	"retriever":               "Address of the retriever, host:port. (default: as configured, 127.0.0.1:9092)",
	"certs_init_dir":          "Directory of the CA and its certificates.",
	"certs_init_trust_domain": "Trust domain of the mesh; part of every identity.",
	"certs_init_rotate":       "Add a new CA beside the present one. Both are trusted until the next rotation.",
	"certs_issue_dir":         "Directory of the CA that triplemesh certs init created.",
	"certs_issue_dns":         "Another host name or IP address of the server, beside localhost. Repeatable.",
	"certs_issue_for":         "Validity period, such as 24h. (default: 90 days)",
	"check_kg": "Knowledge graph, or one snapshot of it, such as wikidata@3; repeatable to read several. " +
		"(default: the only one there is)",
	"cmd_check":    "Check a text: which claims does a knowledge graph support, which does it contradict?",
	"cmd_up":       "Run the services, and a model server if no model endpoint is configured.",
	"cmd_init":     "Choose a model and a knowledge graph, test both, and write a configuration.",
	"cmd_setup":    "Download the encoder, the model and its server if they are missing.",
	"cmd_mcp":      "Serve a mesh to other language models over the Model Context Protocol.",
	"cmd_feedback": "Say which answers of a run are right, wrong or missing; list and export what was said.",
	"cmd_quota":    "Show your identity on a mesh, your permissions, and what you have used of your quota.",
	"cmd_calibrate": "Find the grounding thresholds for a knowledge graph and an encoder, and write them into the " +
		"configuration.",
	"cmd_train":        "Train the ranking of relation paths for a knowledge graph.",
	"cmd_train_ranker": "Train a ranker of relation paths from questions with answers.",
	"train_activate": "Store the ranker for each knowledge graph, and activate it unless it ranks worse than " +
		"before.",
	"train_server":        "Address of the orchestrator, host:port, which has the feedback.",
	"train_rollback":      "Activate the previous ranker, or none if the active one is the first.",
	"eval_evaluate":       "Measure methods on questions with known answers.",
	"eval_diff":           "Compare two evaluations of the same questions.",
	"eval_report_publish": "Publish the page under this name in the console, to every caller of the mesh.",
	"export_sft_kg":       "Knowledge graph that holds the answers, or one snapshot of it, such as freebase@3.",
	"feedback_run":        "Run that is marked; last is the newest.",
	"feedback_missing":    "This answer is right, and missing: its name or id in the knowledge graph. Repeatable.",
	"feedback_triple":     "This triple is right: \"subject | relation | object\". Repeatable.",
	"init_yes":            "Do not prompt: use flags and defaults. Fail if a test fails.",
	"init_out":            "Configuration file to write. (default: triplemesh.yaml)",
	"init_model_url": "An OpenAI-compatible endpoint, such as http://127.0.0.1:11434/v1; " +
		"otherwise the bundled model.",
	"init_model":        "Name of the model at the endpoint; otherwise the first that it lists.",
	"init_key_env":      "Environment variable that holds the endpoint's key. The key itself is never written.",
	"init_graph":        "sample (facts of Wikidata), file, neo4j or weaviate.",
	"init_file":         "File of facts: .tsv, .csv, .nt, .nq, .ttl, .jsonld, …",
	"init_uri":          "Neo4j server, such as bolt://127.0.0.1:7687.",
	"init_database":     "Neo4j database; otherwise the user's own.",
	"password":          "File that contains only the password.",
	"init_http":         "Weaviate's HTTP address, such as http://127.0.0.1:8080.",
	"init_grpc":         "Weaviate's gRPC address, such as 127.0.0.1:50051.",
	"init_weaviate_key": "Environment variable that holds Weaviate's key.",
	"kg_import_name":    "Name of the knowledge graph to import into. (default: the one in the file)",
	"kg_load_name_property": "Property that names a node, or the nodes with a label, such as Film=title; otherwise " +
		"name. Repeatable.",
	"kg_load_files": "Files of triples, plain, .gz, .bz2 or .zst: TSV (subject, relation, object, separated by " +
		"tabs), CSV, N-Triples, N-Quads, Turtle, JSON-LD, or the dumps of Wikidata (JSON) and Freebase; - reads " +
		"TSV from standard input. A Neo4j server (neo4j://HOST:PORT, bolt://…; NEO4J_USER, NEO4J_PASSWORD) or a " +
		"SPARQL endpoint (sparql+https://…; SPARQL_USER, SPARQL_PASSWORD) is read like a file. Without files, the " +
		"retriever reads the knowledge graph from the store named in its configuration.",
	"kg_load_format": "tsv, csv, n-triples, n-quads, turtle, json-ld, wikidata-json or freebase; otherwise derived " +
		"from the file names.",
	"kg_load_columns": "Headings of a CSV file's columns of subject, relation and object, and if there are any of " +
		"start and end. One heading alone is the subject, and every other column a relation.",
	"kg_load_key": "Heading of the CSV file's column that names the entity of a row; every other column becomes a " +
		"relation. Otherwise a key is proposed from the data.",
	"kg_load_name": "Heading of the CSV file's column with the names of rows whose key column has codes: entities " +
		"have the name, and the code is their id. Repeatable, for names in several columns. Otherwise a column of " +
		"titles or names is proposed; --type COLUMN=text keeps it a relation.",
	"kg_load_rows": "Make each row of a CSV file an entity of this name and its number: for tables in which no " +
		"column identifies a row.",
	"kg_load_type": "Type of a CSV file's column: entity, number, date, list, text or skip; entity:ROWS if its " +
		"cells are codes of rows, such as manager_id=entity:employee. Repeatable; the types of the others, and what " +
		"columns of tables loaded together refer to, are inferred from the data.",
	"kg_load_no_vectors": "Encode no triples at load time; the triples of a question's subjects are encoded when it " +
		"is asked. For very large knowledge graphs.",
	"kg_load_provenance": "Keep where each triple comes from (the named graph of a quad, the statement of a " +
		"Wikidata dump, else file and line) and show it with the evidence of answers. The snapshot gets larger.",
	"kg_load_strict": "Fail at the first line without a triple. By default such lines are counted and reported.",
	"kg_load_where":  "Graph pattern that binds ?s, ?p and ?o; otherwise all statements.",
	"kg_propose_out": "File to write proposals to, for review.",
	"mcp_http":       "Serve streamable HTTP at this address, host:port, instead of standard input and output.",
	"setup_model_server": "llama-server, prebuilt (34 MB) or, where that does not run, built from source, unless " +
		"one is on PATH.",
	"setup_python":      "Python with pip, 3.8 or newer; 3.10 for the prebuilt llama-server.",
	"setup_server_url":  "Fetch llama-server from this .zip or .tar.gz, such as a release of llama.cpp, over HTTPS.",
	"tokens_file_file":  "File of tokens. (TRIPLEMESH_TOKENS_FILE)",
	"token_new_scope":   "Scope: ask, kg:read, kg:write or admin. Repeatable.",
	"token_new_expires": "Expiry: a date (2027-01-31) or a duration (90d, 12h). (default: never)",
	"up_target": "Services to run: all, or some of orchestrator, generator, retriever, verifier, " +
		"evaluator, reflector.",
	"up_certs": "Secure every connection with the certificates that triplemesh certs made in DIR.",
}

// formatHelp adds the default to the help of a flag.
func formatHelp(v *kong.Value) string {
	help := kong.DefaultHelpValueFormatter(v)
	if v.Flag == nil || !v.HasDefault || v.Default == "" || v.IsBool() || strings.Contains(help, "(default: ") {
		return help
	}
	return help + " (default: " + v.Default + ")"
}
