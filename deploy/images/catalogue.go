package main

import "path/filepath"

// image is one of the images.
type image struct {
	name, title string
	// program is the package of the entrypoint.
	program string
	// cgo: the program is linked dynamically, and its libraries come along.
	cgo bool
	// console: the program serves the console, which is compiled into it.
	console bool
	// files come along too.
	files []file
	// limit is the most bytes unpacked; 0 sets none.
	limit int64
	// test images are built only where they are named.
	test bool
}

// file is a file of the checkout and its place in the image.
type file struct {
	from, to string
	// name, version, licence and source are what the SBOM says of it.
	name, version, licence, source string
}

// small is the limit of the stages that hold nothing.
const small = 30_000_000

// images are the stages, and the command line for jobs.
func images() []image {
	return []image{
		orchestrator(),
		stage("generator", "Drafts pseudo-graphs, relation paths, candidates and answers", 0),
		stage("verifier", "Corrects pseudo-graphs by evidence", small),
		stage("evaluator", "Judges candidate answers", small),
		stage("reflector", "Weighs candidates and verdicts", small),
		retriever(),
		{name: "triplemesh", title: "Command line of the mesh", program: "./cmd/triplemesh", cgo: true, console: true},
		forTests("scripted-llm", "Answers as a model server, by script"),
		forTests("trace-sink", "Keeps traces for a look into them"),
		forTests("load", "Asks a mesh and counts what came of it"),
	}
}

func forTests(name, title string) image {
	return image{name: name, title: title, program: "./tests/cluster/cmd/" + name, test: true}
}

func stage(name, title string, limit int64) image {
	return image{name: name, title: title, program: "./services/" + name + "/cmd/" + name, limit: limit}
}

func orchestrator() image {
	i := stage("orchestrator", "Answers questions by the other stages", 0)
	i.console = true
	return i
}

// retriever carries its encoder, so that a pod is ready without fetching
// anything, and a rollback takes the encoder back with it.
func retriever() image {
	i := stage("retriever", "Finds triples, paths and entities", 0)
	i.cgo = true
	i.files = []file{
		{
			from: filepath.Join(".cache", "onnxruntime", "libonnxruntime.so"), to: "opt/triplemesh/libonnxruntime.so",
			name: "onnxruntime", licence: "MIT", source: "https://github.com/microsoft/onnxruntime",
		},
		{
			from: filepath.Join(".cache", "encoder", "model.onnx"), to: "opt/triplemesh/encoder/model.onnx",
			name: "all-MiniLM-L6-v2", licence: "Apache-2.0", source: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
		},
		{
			from: filepath.Join(".cache", "encoder", "vocab.txt"), to: "opt/triplemesh/encoder/vocab.txt",
			name: "all-MiniLM-L6-v2 vocabulary", licence: "Apache-2.0", source: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
		},
	}
	return i
}
