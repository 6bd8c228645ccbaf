# `make help` lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help

STAGES  := orchestrator generator retriever verifier evaluator reflector
MODULES := proto client internal $(STAGES:%=services/%) lab cmd/triplemesh bench deploy examples/go tests
# All packages of all modules of the workspace.
ALL     := $(MODULES:%=./%/...)
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
TOOLS   := $(CURDIR)/.cache/bin
PROGRAMS := ./cmd/triplemesh ./bench/cmd/triplemesh-bench $(foreach s,$(STAGES),./services/$(s)/cmd/$(s))
# Reproducible builds: no path and no time in the binaries.
REPRODUCIBLY := -trimpath -buildvcs=false -ldflags '-s -w -buildid= -X github.com/triplemesh/triplemesh/internal/config.built=$(VERSION)'
# Code generators.
GENERATORS := $(TOOLS)/buf $(TOOLS)/protoc-gen-go $(TOOLS)/protoc-gen-go-grpc $(TOOLS)/protoc-gen-grpc-gateway
REST    := services/orchestrator/http/rest

# The demo needs no local model if an endpoint is configured.
DEMO_SETUP := $(if $(OPENAI_BASE_URL),--no-model --no-model-server)
# Baseline of buf breaking: the newest release, if git knows one. Nothing is promised before the first.
BASE ?= $(shell git describe --tags --abbrev=0 --match 'v*' 2>/dev/null)

.PHONY: help demo build setup test figures clients-test store-test neo4j-test weaviate-test lint generate rest-test openai-test arm64-test misbehave-test fuzz fuzz-corpus install-test outsider-test trust measure race nightly soak soak-slice replicas sim versions-test bench bench-overload bench-memory images sbom site reproducible k8s-check k8s-test console console-check console-test tidy vulncheck tools clean

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## Set everything up and answer three questions on Wikidata facts.
	@mkdir -p bin
	go build $(REPRODUCIBLY) -o bin/ ./cmd/triplemesh
	bin/triplemesh setup $(DEMO_SETUP)
	examples/demo.sh

build: ## Build bin/triplemesh and a binary for each service.
	@mkdir -p bin
	go build $(REPRODUCIBLY) -o bin/ $(PROGRAMS)

setup: build ## Download the encoder, the model and the model server into .cache.
	bin/triplemesh setup

test: setup $(TOOLS)/grpcurl ## Run every test that needs no cluster.
	go test -timeout 20m $(TESTFLAGS) $(ALL)

install-test: ## Install the released modules from a module proxy made of this tree, outside the workspace.
	go test -count=1 -timeout 20m -tags install -run TestTheReleasedModulesInstall ./tests

HOST = $(shell go env GOOS)/$(shell go env GOARCH)
outsider-test: ## Install what a release publishes outside the checkout, in empty homes; ask the bundled model.
	$(MAKE) release SNAPSHOT=v0.1.0-outsider PLATFORMS=$(HOST)
	go test -count=1 -v -timeout 40m -tags outsider -run TestAnOutsider ./tests

lint: $(GENERATORS) $(TOOLS)/staticcheck $(TOOLS)/golangci-lint ## Check format, code, names, size, contract and modules.
	@unformatted=$$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l); \
	  [ -z "$$unformatted" ] || { echo "run gofmt -w on:"; echo "$$unformatted"; exit 1; }
	$(TOOLS)/buf lint
	$(if $(BASE),$(TOOLS)/buf breaking --against '.git#ref=$(BASE)',@echo "buf breaking: skipped, no release to compare with")
	@fresh=$$(mktemp -d) && trap 'rm -rf "$$fresh"' EXIT && $(TOOLS)/buf generate -o "$$fresh" && \
	  diff -r -x '*.proto' -x go.mod -x go.sum -x example_test.go "$$fresh/proto" proto && \
	  diff -r "$$fresh/$(REST)/gateway" $(REST)/gateway && diff "$$fresh/$(REST)/openapi.json" $(REST)/openapi.json || { echo "generated code is out of date; run make generate"; exit 1; }
	go run ./deploy/modules check
	go run ./deploy/modules vet
	$(TOOLS)/staticcheck $(ALL)
	go run ./tests/lint
	GOLANGCI_LINT_CACHE=$(CURDIR)/.cache/golangci-lint $(TOOLS)/golangci-lint run $(ALL)

generate: $(GENERATORS) ## Format the protos; generate Go, the gateway, the OpenAPI document and, with Node.js, the types of the console and of the npm package.
	$(TOOLS)/buf format -w proto
	$(TOOLS)/buf generate
	[ ! -d console/node_modules ] || (cd console && npm run generate)
	[ ! -d clients/typescript/node_modules ] || (cd clients/typescript && npm run generate)

rest-test: .cache/rest/.complete ## Test the REST API against its OpenAPI document, with a scripted model.
	go run ./cmd/triplemesh setup --no-model --no-model-server
	go build -o bin/scripted ./tests/scripted
	tests/rest/run.sh $(REST_TESTFLAGS)

.cache/rest/.complete: tests/rest/requirements.txt
	rm -rf $(@D)
	python3 -m pip install --quiet --require-hashes --target $(@D) -r $<
	@touch $@

store-test: neo4j-test weaviate-test ## Test the Neo4j and Weaviate stores against servers that ../shared starts.
	go test -count=1 ./services/retriever/store/...

neo4j-test: ## Test the Neo4j source, store and rows of plans against a server that ../shared starts.
	@eval "$$(../shared/neo4j/up.sh)" && export NEO4J_URI && \
	  { go test -count=1 -tags neo4j ./services/retriever ./services/retriever/execute ./services/retriever/source/neo4j ./services/retriever/store/neo4j && go test -count=1 -tags neo4j -run TestTheTutorialOfNeo4j ./tests; status=$$?; ../shared/neo4j/down.sh; exit $$status; }

WEAVIATE := ../shared/weaviate
WEAVIATE_NODES ?= 1 3

weaviate-test: ## Test the Weaviate store on clusters of WEAVIATE_NODES (1 and 3) nodes that ../shared starts.
	@set -e; trap '$(WEAVIATE)/down.sh --wipe' EXIT; for nodes in $(WEAVIATE_NODES); do \
	  $(WEAVIATE)/down.sh; set -a; eval "$$($(WEAVIATE)/up.sh $$nodes)"; WEAVIATE_UP="$(CURDIR)/$(WEAVIATE)/up.sh $$nodes"; set +a; \
	  go test -count=1 -timeout 30m -tags weaviate ./services/retriever/store/weaviate; done

figures: ## List the published figures (docs/figures.yaml) and which of them are stale.
	@go test -count=1 -v -run TestPublishedFiguresAreListed ./tests | grep -E 'STALE|UNKNOWN|current|stale|FAIL|figures.yaml'

QEMU ?= qemu-aarch64-static -cpu max
arm64-test: ## Test the kernels for arm64, and load a graph by its command line, under emulation (qemu-user-static).
	cd services/retriever && GOARCH=arm64 CGO_ENABLED=0 go test -count=1 -exec '$(QEMU)' \
	  -run 'Dot|Products|Lookups|Above|Quantise|Gelu|Normalise|Attend|Cgo' ./vector ./encoder/bert ./encoder/onnx
	QEMU='$(QEMU)' tests/arm64.sh

openai-test: build .cache/openai/.complete ## Test the OpenAI API with the official Python and Node clients.
	bin/triplemesh setup --no-model --no-model-server
	npm ci --silent --prefix tests/openai
	go test -count=1 -tags openai -run "OfficialOpenAI|OfTheOpenAIPage" ./tests

.cache/openai/.complete: tests/openai/requirements.txt
	rm -rf $(@D)
	python3 -m pip install --quiet --require-hashes --no-deps --no-warn-conflicts --target $(@D) -r $<
	@touch $@

PYTHON  ?= python3
CLIENTS := $(CURDIR)/.cache/clients

clients-test: build $(CLIENTS)/test/.complete $(CLIENTS)/build/.complete ## Build the client packages; test them and the examples against a mesh with a scripted model.
	bin/triplemesh setup --no-model --no-model-server
	rm -rf $(CLIENTS)/dist
	cd clients/python && $(CLIENTS)/build/bin/hatchling build -d $(CLIENTS)/dist && $(CLIENTS)/test/bin/mypy && \
	  $(CLIENTS)/test/bin/pip install -q --no-deps --force-reinstall $(CLIENTS)/dist/*.whl && \
	  BUILD_PYTHON=$(CLIENTS)/build/bin/python DIST=$(CLIENTS)/dist $(CLIENTS)/test/bin/python -m pytest -q
	go build -o bin/scripted ./tests/scripted
	cd clients/typescript && npm ci --silent && node_modules/.bin/openapi-typescript $(CURDIR)/$(REST)/openapi.json --output $(CLIENTS)/schema.ts >/dev/null && \
	  { diff $(CLIENTS)/schema.ts src/schema.ts || { echo "src/schema.ts is out of date; run npm run generate"; exit 1; }; } && \
	  npm run --silent typecheck && npm run --silent build && SCRIPTED=$(CURDIR)/bin/scripted CHROMIUM="$(CHROMIUM)" npm test

$(CLIENTS)/test/.complete: clients/python/requirements.txt
$(CLIENTS)/build/.complete: clients/python/requirements-build.txt
$(CLIENTS)/%/.complete:
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install -q --require-hashes -r $<
	@touch $@

misbehave-test: ## Run every call of every stage and method against every recorded model server fault.
	for m in services/generator services/verifier services/evaluator services/reflector; do \
	  (cd $$m && MISBEHAVIOURS=all go test -count=1 -run 'TheModelServerMisbehaves' .) || exit 1; done
	cd tests && MISBEHAVIOURS=all go test -count=1 -timeout 40m -v -run TestEveryMethodEndsWhateverTheModelServerDoes .

fuzz: ## Run every fuzz target for FUZZTIME (30s) and print a summary.
	go run ./tests/fuzz -time $(or $(FUZZTIME),30s)

fuzz-corpus: ## Add inputs found by make fuzz to testdata if they reach new code.
	go run ./tests/fuzz -corpus

TRUSTED := ./internal/cypher $(addprefix ./services/,verifier retriever/ground retriever/load retriever/store/embedded \
  retriever/vectorcache orchestrator/runs)

trust: ## Run thousands of random histories, bit flips and kills, instead of dozens (hours).
	FLIPS=all KILLS=$(or $(KILLS),100) RAPID_CHECKS=$(or $(RAPID_CHECKS),1000) go test -count=1 -timeout 12h -v \
	  -run 'Any|FlippedBit|Kill|Victim|FixedGraph|OrderOfEvidence|EveryHit|Stricter|OneMore' $(TRUSTED)

measure: ## Run the short tests whose measurements docs/reliability.md has.
	go test -count=1 -v -run 'PowerCut|FailingDisk|TestSlownessOfAll|BestGoodput|AdmittedRequestIsNeverRefused' \
	  ./services/retriever/store/embedded ./internal/client ./internal/admission
	go test -count=1 -v -run TestIdleStreams ./services/orchestrator/http -args -idle 9900
	go test -count=1 -v -run 'TestTheLedgerEquals|TestBadNetworks|TestASlowModelEndpoint' ./tests

# Packages with concurrency. Left out: packages that share no state and take minutes under the
# race detector.
RACED := $(addprefix ./internal/,admission auth client/... config llamaserver llm/... mtls server telemetry terminal) \
  $(addprefix ./services/,evaluator/... generator reflector verifier \
    orchestrator orchestrator/check orchestrator/http/mcp orchestrator/method orchestrator/http/openai \
    orchestrator/quota orchestrator/http/reports orchestrator/http/rest orchestrator/runs orchestrator/http \
    retriever retriever/encoder retriever/extsort retriever/load \
    retriever/vector retriever/source retriever/store/neo4j retriever/vectorcache) \
  ./cmd/triplemesh/mesh

# Left out of the race detector: what one goroutine computes, or a simulation that other tests have the
# concurrency of; under it they take minutes.
UNRACED := RecallOnEveryPath|BitsAlone|FlippedBit|NineTenthsOfTheBestGoodput|IsNotInflated|IsABomb|OldestVectors

race: ## Run the tests of concurrent packages under the race detector.
	go test -race -timeout 20m -skip '$(UNRACED)' $(RACED)
	go test -race -timeout 20m -run 'TestStore|Concurren|Held' ./services/retriever/store/embedded

replicas: ## Ask REPLICA_QUESTIONS (40) questions per fault of one of two replicas of each stage and of the model server.
	REPLICA_QUESTIONS=$${REPLICA_QUESTIONS:-40} go test -count=1 -timeout 1h -v -run 'TestOneReplica|TestOneOrchestrator|TestOneModelEndpoint|TestStoppedReplicas|TestASlowModelIsAskedOnce' ./tests

sim: ## Simulate SEEDS (1000) meshes per kind of fault and print the outcomes.
	go test -count=1 -timeout 24h -run TestSimulation -v ./tests/sim -args -seeds $(or $(SEEDS),1000)

soak: ## Ask QUESTIONS (2000000) questions, or for SOAK (such as 10m), and detect leaks.
	$(if $(SOAK),SOAK=$(SOAK),QUESTIONS=$(or $(QUESTIONS),2000000)) go test -count=1 -timeout 24h -tags soak -run TestItGoesOnForLong -v ./tests

nightly: race measure trust sim replicas misbehave-test soak-slice versions-test reproducible bench-overload bench-memory fuzz ## Run everything behind docs/reliability.md that needs no cluster (hours).

soak-slice: ## Run ten minutes of the soak test.
	$(MAKE) soak SOAK=10m

versions-test: build $(TOOLS)/buf ## Test meshes of two versions: this one and FROM (default: the newest release, else tests/versions/previous.txt).
	bin/triplemesh setup --no-model --no-model-server
	FROM="$(FROM)" go test -count=1 -timeout 60m -v -tags versions ./tests/versions

bench: ## Run the benchmarks.
	go test -run '^$$' -bench . -benchmem $(ALL)

bench-overload: build ## Overload a mesh with a scripted model: model-bound, CPU-bound, greedy tenant; each rate for HOLD (60s).
	bin/triplemesh setup --no-model --no-model-server
	bin/triplemesh-bench load --scripted --overload --latency 500ms --capacity 4 --timeout 10s --rate 2 --find 10s --duration $(or $(HOLD),60s)
	bin/triplemesh-bench load --scripted --overload --latency 1ms --capacity 0 --timeout 5s --rate 20 --find 10s --duration $(or $(HOLD),60s) --set llm.max_in_flight=64
	bin/triplemesh-bench load --scripted --overload --latency 1ms --capacity 0 --timeout 5s --rate 20 --find 10s --duration $(or $(HOLD),60s) --set llm.max_in_flight=64 --heedless
	bin/triplemesh-bench load --scripted --latency 500ms --capacity 4 --timeout 10s --rate 42 --duration $(or $(HOLD),60s) --tenant 20 --tenant 1

bench-memory: ## Measure the memory of six processes with IN_FLIGHT (2000) questions in flight.
	IN_FLIGHT=$(or $(IN_FLIGHT),2000) go test -count=1 -v -run TestMemoryIsBounded ./tests

images: build ## Build a container image for each service into .cache/images; REGISTRY=… pushes them.
	bin/triplemesh setup --no-model --no-model-server
	go run ./deploy/release images -version $(VERSION) -revision $$(git rev-parse HEAD) -tag $(or $(TAG),dev) \
	  $(if $(REGISTRY),-repository $(REGISTRY) -push)

ZIG := .cache/zig
.PHONY: release index client-packages
release: $(ZIG)/installed $(TOOLS)/helm client-packages ## Write the files of a release into .cache/release: of the tagged commit, or a snapshot of SNAPSHOT=v0.1.0-x; KEY=FILE signs.
	go run ./deploy/release cut -cc '$(CURDIR)/$(ZIG)/bin/python -m ziglang cc' $(if $(SNAPSHOT),-version $(SNAPSHOT)) \
	  $(if $(KEY),-key $(KEY)) $(if $(PLATFORMS),-platforms $(PLATFORMS))

client-packages: $(CLIENTS)/build/.complete ## Build the Python wheel and the npm package for a release.
	rm -rf clients/python/dist clients/typescript/*.tgz
	cd clients/python && $(CLIENTS)/build/bin/hatchling build
	cd clients/typescript && npm ci --silent && npm run --silent build && npm pack --silent

index: ## Join the images TAG-amd64 and TAG-arm64 in REGISTRY under TAG; KEY=FILE signs.
	go run ./deploy/release index -repository $(REGISTRY) -tag $(TAG) $(if $(KEY),-key $(KEY))

# Builds C for both architectures of Linux.
$(ZIG)/installed: deploy/release/requirements.txt
	$(PYTHON) -m venv $(ZIG)
	$(ZIG)/bin/pip install -q --require-hashes -r $<
	@touch $@

sbom: build ## Write SPDX bills of materials into .cache/sbom, and docs/licences.md.
	go run ./deploy/release sbom -version $(VERSION) -licences docs/licences.md

SITE := $(CURDIR)/.cache/site-tools

site: build $(TOOLS)/buf $(TOOLS)/protoc-gen-doc $(SITE)/installed ## Build the documentation site into .cache/site/html and check its links.
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/python deploy/site/build.py .cache/site bin/triplemesh $(TOOLS)/protoc-gen-doc

$(SITE)/installed: deploy/site/requirements.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install -q --require-hashes -r $<
	@touch $@

reproducible: ## Build a program and an image twice and compare them; WHAT=all builds every one.
	deploy/reproducible.sh $(WHAT)

k8s-check: $(TOOLS)/helm ## Render and check every manifest, the chart and the Compose file, without a cluster.
	go test -count=1 ./deploy/k8s
	@for f in deploy/helm/triplemesh/values/*.yaml; do $(TOOLS)/helm lint --strict --quiet deploy/helm/triplemesh -f $$f || exit 1; done

# Your cluster (KUBECONFIG, with images in REGISTRY), or a local one that ../shared starts as root.
KUBE := ../shared/kube
export KUBE_HOME ?= /tmp/kube
CLUSTER_TEST := go test -count=1 -tags cluster -run MissingSecret ./deploy/k8s && \
  go test -count=1 -timeout 90m -v -tags cluster ./tests/cluster $(K8S_TESTFLAGS)

k8s-test: build $(TOOLS)/grpcurl $(TOOLS)/helm ## Test the mesh in Kubernetes: your cluster (KUBECONFIG, REGISTRY) or a local one.
	bin/triplemesh setup
ifdef KUBECONFIG
	$(CLUSTER_TEST) $(if $(REGISTRY),-repository $(REGISTRY))
else
	$(KUBE)/build.sh >/dev/null
	$(KUBE)/up.sh
	install -d -o 65532 -g 65532 /var/lib/triplemesh/kg /var/lib/triplemesh/runs
	export KUBECONFIG=$(KUBE_HOME)/run/kubeconfig; $(CLUSTER_TEST) -kustomization mesh-host-path -node node; \
	  status=$$?; $(KUBE)/down.sh; exit $$status
endif

CONSOLE  := services/orchestrator/http/console/dist
CHROMIUM ?= /usr/bin/chromium

console: console/node_modules ## Build the console into the orchestrator, with Node.js.
	cd console && npm run build

console-check: console/node_modules $(TOOLS)/buf ## Check the console's code, and that the committed build matches it.
	cd console && npm run lint && npm run typecheck && npm test
	@fresh=$$(mktemp -d) && trap 'rm -rf "$$fresh"' EXIT && \
	  PATH="$(CURDIR)/console/node_modules/.bin:$$PATH" $(TOOLS)/buf generate --template console/buf.gen.yaml -o "$$fresh" && \
	  diff -r "$$fresh/console/src/api/contract" console/src/api/contract || { echo "the console's types are out of date; run cd console && npm run generate"; exit 1; }
	@fresh=$$(mktemp -d) && trap 'rm -rf "$$fresh"' EXIT && (cd console && npm run build -- --outDir "$$fresh" --logLevel warn) && \
	  diff -r "$$fresh" $(CONSOLE) || { echo "$(CONSOLE) is out of date; run make console"; exit 1; }

console-test: build console/node_modules ## Test the console in Chromium with a scripted model; IMAGES=1 updates docs/images.
	@[ -x "$(CHROMIUM)" ] || { echo "no Chromium at $(CHROMIUM); install it (apt-get install chromium) or set CHROMIUM=FILE"; exit 1; }
	bin/triplemesh setup --no-model --no-model-server
	go build -o bin/scripted ./tests/scripted
	cd console && CHROMIUM="$(CHROMIUM)" IMAGES="$(IMAGES)" npm run test:browser

console/node_modules: console/package-lock.json
	@command -v npm >/dev/null || { echo "building the console needs Node.js 20 or later with npm; install it"; exit 1; }
	cd console && npm ci
	@touch $@

vulncheck: $(TOOLS)/govulncheck ## Find known vulnerabilities in reachable code; needs the Go vulnerability database (GOVULNDB).
	@set -e; for m in $(MODULES); do echo "govulncheck $$m"; (cd $$m && $(TOOLS)/govulncheck -db $(or $(GOVULNDB),https://vuln.go.dev) ./...); done

tidy: ## Update every go.mod and go.sum from the code and versions.yaml.
	go run ./deploy/modules tidy

tools: $(GENERATORS) $(TOOLS)/staticcheck $(TOOLS)/golangci-lint $(TOOLS)/govulncheck $(TOOLS)/grpcurl $(TOOLS)/helm ## Install the development tools into .cache/bin.

clean: ## Remove build output; keep downloads and data.
	rm -rf bin

# Tool versions are pinned here only.
$(TOOLS)/buf:                PACKAGE := github.com/bufbuild/buf/cmd/buf@v1.75.0
$(TOOLS)/protoc-gen-go:      PACKAGE := google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
$(TOOLS)/protoc-gen-go-grpc: PACKAGE := google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
$(TOOLS)/protoc-gen-grpc-gateway: PACKAGE := github.com/grpc-ecosystem/grpc-gateway/v2/protoc-gen-grpc-gateway@v2.31.0
$(TOOLS)/protoc-gen-doc:     PACKAGE := github.com/pseudomuto/protoc-gen-doc/cmd/protoc-gen-doc@v1.5.1
$(TOOLS)/staticcheck:        PACKAGE := honnef.co/go/tools/cmd/staticcheck@v0.8.2
$(TOOLS)/golangci-lint: PACKAGE := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.12.2
$(TOOLS)/govulncheck:        PACKAGE := golang.org/x/vuln/cmd/govulncheck@v1.1.4
$(TOOLS)/helm:               PACKAGE := helm.sh/helm/v4/cmd/helm@v4.3.1
$(TOOLS)/grpcurl:            PACKAGE := github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3
$(TOOLS)/%: Makefile
	GOBIN=$(TOOLS) go install $(PACKAGE)
	@touch $@
