// Package cypher runs Cypher on a scratch graph in memory and reads the
// Cypher that a language model wrote.
//
// It has two layers. Parse and Graph.Run follow openCypher 9 to the letter
// (https://opencypher.org/resources, measured by its Technology Compatibility Kit). Decode is
// forgiving: it takes the answer of a model, prose, fences and mistakes included, runs what can be
// run and returns the triples of the pseudo-graph, with a Diagnostic for each thing it forgave.
// ReadPlan reads MATCH … RETURN as a Plan, without running it.
//
// The input is untrusted: every run is bounded by Limits and by its context,
// and no input makes the package panic or recurse without bound.
package cypher
