# `make help` lists what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := help

STAGES  := orchestrator generator retriever verifier evaluator reflector
MODULES := proto internal $(STAGES:%=services/%) bench cmd/triplemesh deploy examples/go tests
# Every package of every module, by the workspace.
ALL     := $(MODULES:%=./%/...)
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
TOOLS   := $(CURDIR)/.cache/bin
PROGRAMS := ./cmd/triplemesh $(foreach s,$(STAGES),./services/$(s)/cmd/$(s))
# Neither the place nor the time of a build is in what it makes.
REPRODUCIBLY := -trimpath -buildvcs=false -ldflags '-s -w -buildid= -X github.com/triplemesh/triplemesh/internal/config.built=$(VERSION)'
# What makes code of the contract.
GENERATORS := $(TOOLS)/buf $(TOOLS)/protoc-gen-go $(TOOLS)/protoc-gen-go-grpc $(TOOLS)/protoc-gen-grpc-gateway
REST    := services/orchestrator/rest

# With a model endpoint of one's own, the demo needs no local model.
DEMO_SETUP := $(if $(OPENAI_BASE_URL),--no-model --no-model-server)
# What protos must not break: the last published main, where git knows one.
BASE ?= $(shell git rev-parse -q --verify refs/remotes/origin/main >/dev/null && echo refs/remotes/origin/main)

.PHONY: help demo build setup test examples-test store-test neo4j-test weaviate-test lint generate rest-test openai-test misbehave-test fuzz fuzz-corpus trust race nightly soak soak-slice replicas sim versions-test bench bench-overload bench-memory images sbom reproducible k8s-check k8s-test console console-check console-test tools clean

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## Set everything up and answer two questions on Wikidata facts.
	bin/triplemesh setup $(DEMO_SETUP)
	examples/demo.sh

build: ## Build bin/triplemesh and a binary for each service.
	@mkdir -p bin
	go build $(REPRODUCIBLY) -o bin/ $(PROGRAMS)

setup: build ## Fetch the encoder, the model and its server into .cache.
	bin/triplemesh setup

test: setup $(TOOLS)/grpcurl ## Run every test that needs no cluster.
	go test -timeout 20m $(TESTFLAGS) $(ALL)

lint: $(GENERATORS) $(TOOLS)/staticcheck ## Check format, code, contract, and that each module stands alone.
	@unformatted=$$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l); \
	  [ -z "$$unformatted" ] || { echo "run gofmt -w on:"; echo "$$unformatted"; exit 1; }
	$(TOOLS)/buf lint
	$(if $(BASE),$(TOOLS)/buf breaking --against '.git#ref=$(BASE)',@echo "buf breaking: no published main to compare with")
	@fresh=$$(mktemp -d) && trap 'rm -rf "$$fresh"' EXIT && $(TOOLS)/buf generate -o "$$fresh" && \
	  diff -r -x '*.proto' -x go.mod -x go.sum "$$fresh/proto" proto && \
	  diff -r "$$fresh/$(REST)/gateway" $(REST)/gateway && diff "$$fresh/$(REST)/openapi.json" $(REST)/openapi.json || { echo "generated code is out of step: run make generate"; exit 1; }
	@set -e; for m in $(MODULES); do echo "go vet $$m"; (cd $$m && GOWORK=off go vet ./... && GOWORK=off go mod tidy -diff); done
	$(TOOLS)/staticcheck $(ALL)

generate: $(GENERATORS) ## Format the protos and generate what follows from them: Go, the gateway, the OpenAPI document, and by Node.js the console's types.
	$(TOOLS)/buf format -w proto
	$(TOOLS)/buf generate
	[ ! -d console/node_modules ] || (cd console && npm run generate)

rest-test: .cache/rest/.complete ## Test the HTTP API against its OpenAPI document, on a mesh with a scripted model.
	go run ./cmd/triplemesh setup --no-model --no-model-server
	go build -o bin/scripted ./tests/scripted
	tests/rest/run.sh $(REST_TESTFLAGS)

.cache/rest/.complete: tests/rest/requirements.txt
	rm -rf $(@D)
	python3 -m pip install --quiet --require-hashes --target $(@D) -r $<
	@touch $@

store-test: neo4j-test weaviate-test ## Test every kind of store, each against a server that ../shared starts.
	go test -count=1 ./services/retriever/store/...

neo4j-test: ## Test the reading of Neo4j against the server that ../shared starts.
	@eval "$$(../shared/neo4j/up.sh)" && export NEO4J_URI && \
	  { go test -count=1 -tags neo4j ./services/retriever ./services/retriever/source/neo4j ./services/retriever/store/neo4j && go test -count=1 -tags neo4j -run TestTheTutorialOfNeo4j ./tests; status=$$?; ../shared/neo4j/down.sh; exit $$status; }

WEAVIATE := ../shared/weaviate
WEAVIATE_NODES ?= 1 3

weaviate-test: ## Test the store in Weaviate on clusters of WEAVIATE_NODES (1 and 3) nodes that ../shared starts.
	@set -e; trap '$(WEAVIATE)/down.sh --wipe' EXIT; for nodes in $(WEAVIATE_NODES); do \
	  $(WEAVIATE)/down.sh; set -a; eval "$$($(WEAVIATE)/up.sh $$nodes)"; WEAVIATE_UP="$(CURDIR)/$(WEAVIATE)/up.sh $$nodes"; set +a; \
	  go test -count=1 -timeout 30m -tags weaviate ./services/retriever/store/weaviate; done

openai-test: build .cache/openai/.complete ## Test the door for OpenAI's API with the official clients for Python and Node.
	bin/triplemesh setup --no-model --no-model-server
	npm ci --silent --prefix tests/openai
	go test -count=1 -tags openai ./tests/openai

.cache/openai/.complete: tests/openai/requirements.txt
	rm -rf $(@D)
	python3 -m pip install --quiet --require-hashes --no-deps --no-warn-conflicts --target $(@D) -r $<
	@touch $@

PYTHON ?= python3
EXAMPLES := .cache/examples

examples-test: build $(EXAMPLES)/installed ## Test the clients in examples/ against a mesh with a scripted model.
	bin/triplemesh setup --no-model --no-model-server
	cd examples/python && ../../$(EXAMPLES)/bin/python generate.py && ../../$(EXAMPLES)/bin/mypy && \
	  PYTHONPATH=. ../../$(EXAMPLES)/bin/python -m pytest -q

$(EXAMPLES)/installed: examples/python/requirements.txt
	$(PYTHON) -m venv $(EXAMPLES)
	$(EXAMPLES)/bin/pip install -q --require-hashes -r $<
	@touch $@

misbehave-test: ## Have every call of every stage, and of every method, meet all that model servers do wrong.
	for m in services/generator services/verifier services/evaluator services/reflector; do \
	  (cd $$m && MISBEHAVIOURS=all go test -count=1 -run 'TheModelServerMisbehaves' .) || exit 1; done
	cd tests && MISBEHAVIOURS=all go test -count=1 -timeout 40m -run TestEveryMethodEndsWhateverTheModelServerDoes .

fuzz: ## Run every fuzz target for FUZZTIME (30s), and sum up what each did.
	go run ./tests/fuzz -time $(or $(FUZZTIME),30s)

fuzz-corpus: ## Take what make fuzz found into testdata, where it reaches code that nothing there does.
	go run ./tests/fuzz -corpus

TRUSTED := $(addprefix ./services/,generator/cypher verifier retriever/prune retriever/load retriever/store/embedded orchestrator/runs)

trust: ## Try by the thousand what make test tries by the dozen: histories, flipped bits, kills (hours).
	FLIPS=all KILLS=$(or $(KILLS),100) RAPID_CHECKS=$(or $(RAPID_CHECKS),1000) go test -count=1 -timeout 12h -v \
	  -run 'Any|FlippedBit|Kill|Victim|FixedGraph|OrderOfEvidence|EveryHit|Stricter|OneMore' $(TRUSTED)

# What runs in parallel: servers, clients, gates, caches, stores, searches. Left
# out is what the race detector makes take minutes and shares nothing.
RACED := $(addprefix ./internal/,admission auth client/... livefile llm/... mtls server stage telemetry) \
  $(addprefix ./services/,evaluator/... generator reflector verifier \
    orchestrator orchestrator/check orchestrator/forward orchestrator/mcp orchestrator/method orchestrator/openai \
    orchestrator/quota orchestrator/reports orchestrator/rest orchestrator/runs orchestrator/web \
    retriever retriever/encoder/endpoint retriever/encoder/turns retriever/extsort retriever/load retriever/memo \
    retriever/scan retriever/source/lines retriever/store/neo4j retriever/vectorcache) \
  ./cmd/triplemesh/mesh ./cmd/triplemesh/progress

race: ## Run the tests of what runs in parallel under the race detector.
	go test -race -timeout 20m -skip 'RecallOnEveryPath|BitsAlone|FlippedBit' $(RACED)
	go test -race -timeout 20m -run 'TestStore|Concurren|Held' ./services/retriever/store/embedded

replicas: ## Ask REPLICA_QUESTIONS (40) questions while each fault befalls one of two replicas of each stage, of the orchestrator, and of the model server.
	REPLICA_QUESTIONS=$${REPLICA_QUESTIONS:-40} go test -count=1 -timeout 1h -v -run 'TestOneReplica|TestOneOrchestrator|TestOneModelEndpoint|TestStoppedReplicas|TestASlowModelIsAskedOnce' ./tests

sim: ## Simulate SEEDS (1000) meshes of each kind of fault, and print what came of them.
	go test -count=1 -timeout 24h -run TestSimulation -v ./tests/sim -args -seeds $(or $(SEEDS),1000)

soak: ## Ask a mesh QUESTIONS (2000000), or for SOAK (such as 10m), and look whether it holds more and more.
	$(if $(SOAK),SOAK=$(SOAK),QUESTIONS=$(or $(QUESTIONS),2000000)) go test -count=1 -timeout 24h -tags soak -run TestItGoesOnForLong -v ./tests

nightly: race trust sim replicas misbehave-test soak-slice versions-test reproducible bench-overload bench-memory fuzz ## Run all that shows docs/reliability.md to be true and needs no cluster (hours).

soak-slice: ## Ten minutes of the soak, for every night.
	$(MAKE) soak SOAK=10m

versions-test: build $(TOOLS)/buf ## Test meshes of two versions: this one beside FROM (the newest release, else tests/versions/previous.txt).
	bin/triplemesh setup --no-model --no-model-server
	FROM="$(FROM)" go test -count=1 -timeout 60m -v -tags versions ./tests/versions

bench: ## Run the benchmarks.
	go test -run '^$$' -bench . -benchmem $(ALL)

bench-overload: build ## Overload a mesh with a scripted model, by the model and by the processor, and with a greedy tenant; each rate for HOLD (60s).
	bin/triplemesh setup --no-model --no-model-server
	bin/triplemesh bench load --scripted --overload --latency 500ms --capacity 4 --timeout 10s --rate 2 --find 10s --duration $(or $(HOLD),60s)
	bin/triplemesh bench load --scripted --overload --latency 1ms --capacity 0 --timeout 5s --rate 20 --find 10s --duration $(or $(HOLD),60s) --set llm.max_in_flight=64
	bin/triplemesh bench load --scripted --overload --latency 1ms --capacity 0 --timeout 5s --rate 20 --find 10s --duration $(or $(HOLD),60s) --set llm.max_in_flight=64 --heedless
	bin/triplemesh bench load --scripted --latency 500ms --capacity 4 --timeout 10s --rate 42 --duration $(or $(HOLD),60s) --tenant 20 --tenant 1

bench-memory: ## Look at the memory of six processes with IN_FLIGHT (2000) questions under way.
	IN_FLIGHT=$(or $(IN_FLIGHT),2000) go test -count=1 -v -run TestMemoryIsBounded ./tests

images: build ## Build a container image for each service into .cache/images; REGISTRY=… pushes them.
	bin/triplemesh setup --no-model --no-model-server
	go run ./deploy/images -version $(VERSION) -revision $$(git rev-parse HEAD) -tag $(or $(TAG),dev) \
	  $(if $(REGISTRY),-repository $(REGISTRY) -push)

sbom: build ## Write what each program is made of into .cache/sbom (SPDX), and docs/licences.md.
	go run ./deploy/sbom -version $(VERSION) -licences docs/licences.md

reproducible: ## Build a program and an image twice and compare them, byte by byte; WHAT=all builds every one.
	deploy/reproducible.sh $(WHAT)

k8s-check: ## Render every manifest and check it, with no cluster.
	go test -count=1 ./deploy/k8s

# One's own cluster by KUBECONFIG, which takes the images from REGISTRY; else one
# that ../shared starts on this machine, as root.
KUBE := ../shared/kube
export KUBE_HOME ?= /tmp/kube
CLUSTER_TEST := go test -count=1 -tags cluster -run MissingSecret ./deploy/k8s && \
  go test -count=1 -timeout 90m -v -tags cluster ./tests/cluster $(K8S_TESTFLAGS)

k8s-test: build $(TOOLS)/grpcurl ## Test the mesh in Kubernetes: in yours (KUBECONFIG, REGISTRY), else in one of this machine.
	bin/triplemesh setup --no-model --no-model-server
ifdef KUBECONFIG
	$(CLUSTER_TEST) $(if $(REGISTRY),-repository $(REGISTRY))
else
	$(KUBE)/build.sh >/dev/null
	$(KUBE)/up.sh
	install -d -o 65532 -g 65532 /var/lib/triplemesh/kg /var/lib/triplemesh/runs
	export KUBECONFIG=$(KUBE_HOME)/run/kubeconfig; $(CLUSTER_TEST) -kustomization mesh-host-path \
	  -loader node/load.sh -killer node/kill.sh; status=$$?; $(KUBE)/down.sh; exit $$status
endif

CONSOLE  := services/orchestrator/console/dist
CHROMIUM ?= /usr/bin/chromium

console: console/node_modules ## Build the console into the orchestrator, with Node.js.
	cd console && npm run build

console-check: console/node_modules $(TOOLS)/buf ## Check the console's code, and that what is committed is built from it.
	cd console && npm run lint && npm run typecheck && npm test
	@fresh=$$(mktemp -d) && trap 'rm -rf "$$fresh"' EXIT && \
	  PATH="$(CURDIR)/console/node_modules/.bin:$$PATH" $(TOOLS)/buf generate --template console/buf.gen.yaml -o "$$fresh" && \
	  diff -r "$$fresh/console/src/api/contract" console/src/api/contract || { echo "the console's contract is out of step: cd console && npm run generate"; exit 1; }
	@fresh=$$(mktemp -d) && trap 'rm -rf "$$fresh"' EXIT && (cd console && npm run build -- --outDir "$$fresh" --logLevel warn) && \
	  diff -r "$$fresh" $(CONSOLE) || { echo "$(CONSOLE) is out of step: run make console"; exit 1; }

console-test: build console/node_modules ## Test the console in Chromium on a mesh with a scripted model; IMAGES=1 renews docs/images.
	@[ -x "$(CHROMIUM)" ] || { echo "there is no Chromium at $(CHROMIUM): install it (apt-get install chromium), or say where it is by CHROMIUM=FILE"; exit 1; }
	bin/triplemesh setup --no-model --no-model-server
	go build -o bin/scripted ./tests/scripted
	cd console && CHROMIUM="$(CHROMIUM)" IMAGES="$(IMAGES)" npm run test:browser

console/node_modules: console/package-lock.json
	@command -v npm >/dev/null || { echo "the console is built with Node.js 20 or later: install it with npm; nothing else needs them"; exit 1; }
	cd console && npm ci
	@touch $@

tools: $(GENERATORS) $(TOOLS)/staticcheck $(TOOLS)/grpcurl ## Install the tools of the trade into .cache/bin.

clean: ## Remove what was built; what was fetched and loaded stays.
	rm -rf bin

# Tools are pinned here and nowhere else.
$(TOOLS)/buf:                PACKAGE := github.com/bufbuild/buf/cmd/buf@v1.75.0
$(TOOLS)/protoc-gen-go:      PACKAGE := google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
$(TOOLS)/protoc-gen-go-grpc: PACKAGE := google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
$(TOOLS)/protoc-gen-grpc-gateway: PACKAGE := github.com/grpc-ecosystem/grpc-gateway/v2/protoc-gen-grpc-gateway@v2.31.0
$(TOOLS)/staticcheck:        PACKAGE := honnef.co/go/tools/cmd/staticcheck@v0.8.2
$(TOOLS)/grpcurl:            PACKAGE := github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3
$(TOOLS)/%: Makefile
	GOBIN=$(TOOLS) go install $(PACKAGE)
	@touch $@
