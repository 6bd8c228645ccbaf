module github.com/triplemesh/triplemesh/tests

go 1.26.0

require github.com/triplemesh/triplemesh/proto v0.0.0
require github.com/triplemesh/triplemesh/internal v0.0.0
require github.com/triplemesh/triplemesh/services/generator v0.0.0
require github.com/triplemesh/triplemesh/services/retriever v0.0.0
require github.com/triplemesh/triplemesh/services/verifier v0.0.0
require github.com/triplemesh/triplemesh/services/evaluator v0.0.0
require github.com/triplemesh/triplemesh/services/reflector v0.0.0
require github.com/triplemesh/triplemesh/services/orchestrator v0.0.0
require github.com/triplemesh/triplemesh/cmd/triplemesh v0.0.0

replace github.com/triplemesh/triplemesh/proto => ../proto
replace github.com/triplemesh/triplemesh/internal => ../internal
replace github.com/triplemesh/triplemesh/services/generator => ../services/generator
replace github.com/triplemesh/triplemesh/services/retriever => ../services/retriever
replace github.com/triplemesh/triplemesh/services/verifier => ../services/verifier
replace github.com/triplemesh/triplemesh/services/evaluator => ../services/evaluator
replace github.com/triplemesh/triplemesh/services/reflector => ../services/reflector
replace github.com/triplemesh/triplemesh/services/orchestrator => ../services/orchestrator
replace github.com/triplemesh/triplemesh/cmd/triplemesh => ../cmd/triplemesh
