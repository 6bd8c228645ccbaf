// Package versions runs meshes of two versions: the services of an earlier one,
// built from its own commit, beside those of the checkout, each in a process of
// its own, two of every stage. Its tests have the build tag versions, since they
// build a second mesh; make versions-test runs them.
package versions
