// Package outsider installs what a release publishes as its users do: in an empty home, outside the
// checkout, with nothing but the files of the release and the package indexes of this machine.
package outsider
