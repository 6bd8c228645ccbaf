// Command hello is a small program with a dependency, for tests of the image builder.
package main

import (
	"fmt"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

func main() {
	n := 0
	for range bundle.Roots() {
		n++
	}
	fmt.Println(n, "authorities")
}
