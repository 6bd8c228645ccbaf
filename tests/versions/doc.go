// Package versions runs meshes of mixed versions: the services of an earlier one, built from its
// own commit, and those of the checkout, each in its own process, two of every stage. Its tests
// have the build tag versions, since they build a second mesh; make versions-test runs them.
package versions
