// Package tck measures package cypher by the Technology Compatibility Kit of openCypher
// (https://github.com/opencypher/openCypher/tree/master/tck). It holds tests only.
//
// Features of our own are in testdata. Published ones are read from the folder that TCK_DIR names, or from
// ../shared/data/opencypher-tck beside the checkout. The share of scenarios
// that pass is printed per folder of features, which in the kit is a clause.
package tck
