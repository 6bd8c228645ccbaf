module github.com/triplemesh/triplemesh/services/orchestrator

go 1.26.0

require github.com/triplemesh/triplemesh/proto v0.0.0
require github.com/triplemesh/triplemesh/internal v0.0.0

replace github.com/triplemesh/triplemesh/proto => ../../proto
replace github.com/triplemesh/triplemesh/internal => ../../internal
