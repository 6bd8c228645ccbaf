module github.com/triplemesh/triplemesh/services/generator

go 1.26.0

require github.com/triplemesh/triplemesh/proto v0.0.0

require github.com/triplemesh/triplemesh/internal v0.0.0

require (
	github.com/cucumber/gherkin/go/v33 v33.0.0 // indirect
	github.com/cucumber/messages/go/v28 v28.0.0 // indirect
	github.com/gofrs/uuid v4.3.1+incompatible // indirect
	github.com/google/uuid v1.6.0 // indirect
)

replace github.com/triplemesh/triplemesh/proto => ../../proto

replace github.com/triplemesh/triplemesh/internal => ../../internal
