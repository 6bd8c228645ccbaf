module github.com/triplemesh/triplemesh/internal

go 1.26.0

require github.com/triplemesh/triplemesh/proto v0.0.0

replace github.com/triplemesh/triplemesh/proto => ../proto
