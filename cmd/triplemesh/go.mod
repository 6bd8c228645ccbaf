module github.com/triplemesh/triplemesh/cmd/triplemesh

go 1.26.0

require github.com/triplemesh/triplemesh/proto v0.0.0

require (
	github.com/alecthomas/kong v1.17.0
	golang.org/x/sync v0.24.0
	golang.org/x/text v0.43.0
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/clipperhouse/uax29/v2 v2.2.0 // indirect
	github.com/hashicorp/errwrap v1.1.0 // indirect
	github.com/hashicorp/go-multierror v1.1.1 // indirect
	github.com/jotaen/kong-completion v0.0.4 // indirect
	github.com/mattn/go-runewidth v0.0.31 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/posener/complete v1.2.3 // indirect
	github.com/riywo/loginshell v0.0.0-20200815045211-7d26008be1ab // indirect
	golang.org/x/term v0.47.0 // indirect
)

require (
	buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go v1.36.12-20260825204119-511051f7f437.2 // indirect
	github.com/triplemesh/triplemesh/internal v0.0.0
	github.com/triplemesh/triplemesh/services/evaluator v0.0.0
	github.com/triplemesh/triplemesh/services/generator v0.0.0
	github.com/triplemesh/triplemesh/services/orchestrator v0.0.0
	github.com/triplemesh/triplemesh/services/reflector v0.0.0
	github.com/triplemesh/triplemesh/services/retriever v0.0.0
	github.com/triplemesh/triplemesh/services/verifier v0.0.0
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260928230214-8a89bd6388cc // indirect
)

replace github.com/triplemesh/triplemesh/proto => ../../proto

replace github.com/triplemesh/triplemesh/internal => ../../internal

replace github.com/triplemesh/triplemesh/services/generator => ../../services/generator

replace github.com/triplemesh/triplemesh/services/retriever => ../../services/retriever

replace github.com/triplemesh/triplemesh/services/verifier => ../../services/verifier

replace github.com/triplemesh/triplemesh/services/evaluator => ../../services/evaluator

replace github.com/triplemesh/triplemesh/services/reflector => ../../services/reflector

replace github.com/triplemesh/triplemesh/services/orchestrator => ../../services/orchestrator
