package auth

import (
	"errors"
	"fmt"
	"strings"
)

// maxToken bounds a token in bytes. JWTs of large organisations have 2 to 4
// KiB; what is longer costs more to look at than it is worth.
const maxToken = 8 << 10

// bearer is the token in the values of the header "authorization". What it
// refuses it does not repeat.
func bearer(values []string) (token string, refusal *Refusal) {
	const want = "want one header authorization: Bearer TOKEN"
	switch len(values) {
	case 0:
		return "", unauthenticated(TokenMissing,
			"callers must say who they are: send a token (authorization: Bearer TOKEN; with triplemesh, --token-file FILE or TRIPLEMESH_TOKEN). `triplemesh token new` makes one, if you run this mesh")
	case 1:
	default:
		return "", unauthenticated(TokenInvalid, "there are %d authorization headers: %s", len(values), want)
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return "", unauthenticated(TokenInvalid, "the authorization header is no bearer token: %s", want)
	}
	token = strings.Trim(token, " ")
	if len(token) > maxToken {
		return "", unauthenticated(TokenInvalid, "the token has %d bytes: at most %d are looked at", len(token), maxToken)
	}
	if token == "" || !tokenCharacters(token) {
		return "", unauthenticated(TokenInvalid, "the authorization header holds no token: %s", want)
	}
	return token, nil
}

// tokenCharacters says that a text has those of RFC 6750's b64token alone.
func tokenCharacters(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._~+/=", r))
	})
}

// ParseToken reads the token that a caller sends from a file: its first line
// that is neither empty nor begins with #.
func ParseToken(data []byte) (string, error) {
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if len(line) > maxToken || !tokenCharacters(line) {
			return "", fmt.Errorf("its first line is no token: want up to %d letters, digits and -._~+/=", maxToken)
		}
		return line, nil
	}
	return "", errors.New("it holds no token: want one in its first line")
}
