package auth

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
)

func FuzzBearer(f *testing.F) {
	for _, seed := range []string{"Bearer abc", "bearer  abc ", "Bearer", "Basic YTpi", "Bearer a b", "", "Bearer \x00",
		"Bearer " + strings.Repeat("a", maxToken+1)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		token, refusal := parseBearer([]string{header})
		switch {
		case (refusal == nil) != (token != ""):
			t.Errorf("%q is the token %q and refused: %v", header, token, refusal)
		case refusal == nil && (len(token) > maxToken || !strings.HasSuffix(strings.Trim(header, " "), token) ||
			strings.ContainsAny(token, " \t\r\n\x00")):
			t.Errorf("%q is the token %q", header, token)
		case refusal != nil && len(header) > 40 && strings.Contains(refusal.Text, header):
			t.Errorf("the refusal repeats what was sent: %s", refusal.Text)
		}
	})
}

func FuzzParseTokens(f *testing.F) {
	good, err := Tokens{[]Token{{Name: "ci", Tenant: "acme", Scopes: []string{"ask"}, SHA256: Hash("x")}}}.Format()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for _, seed := range []string{"", "tokens:", "tokens: [{}]", "tokens: &a [*a]",
		"tokens: [{name: a, tenant: b, scopes: [mesh], sha256: 00}]", "- a", "tokens: [{expires: 2026-13-01}]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tokens, err := ParseTokens(data)
		if err != nil {
			return
		}
		for _, token := range tokens.Tokens {
			if sum, err := hex.DecodeString(token.SHA256); err != nil || len(sum) != 32 {
				t.Errorf("the hash %q was taken", token.SHA256)
			}
			if _, err := ParseTenant(token.Tenant); err != nil || len(parseScopes(token.Scopes)) == 0 {
				t.Errorf("%+v was taken", token)
			}
		}
		if got, err := indexByHash(data); err != nil || len(got) != len(tokens.Tokens) {
			t.Errorf("%d of %d tokens can be looked up: %v", len(got), len(tokens.Tokens), err)
		}
		written, err := tokens.Format()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseTokens(written)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, written)
		}
		if len(tokens.Tokens) > 0 && !reflect.DeepEqual(stamps(again), stamps(tokens)) {
			t.Errorf("got %+v, want %+v", again, tokens)
		}
	})
}

func FuzzParseMeshTokens(f *testing.F) {
	for _, seed := range []string{"", "# none\n", strings.Repeat("a", 22), " " + strings.Repeat("b", 30) + " \r\n#\n" +
		strings.Repeat("c", 22), "short", strings.Repeat("é", 30)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tokens, err := ParseMeshTokens(data)
		for _, token := range tokens {
			if len(token) < minMeshToken || len(token) > maxToken || !tokenCharacters(token) {
				t.Errorf("the secret %q was taken", token)
			}
		}
		token, one := ParseToken(data)
		if err == nil && (one != nil || token != tokens[0]) {
			t.Errorf("the secrets are %q, the token is %q, %v", tokens, token, one)
		}
	})
}

func FuzzParseKeys(f *testing.F) {
	for _, seed := range []string{
		"", `{"keys": []}`, `{"keys": [{}]}`, `{"keys": [null, 1]}`,
		`{"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "a", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`,
		`{"keys": [{"kty": "oct", "k": "c2VjcmV0"}, {"kty": "RSA", "n": "AQAB", "e": "AQAB"}]}`,
		`{"keys": [{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "use": "enc"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, err := parseKeys(data)
		if (err == nil) != (len(keys) > 0) {
			t.Errorf("%d keys, %v", len(keys), err)
		}
		for _, key := range keys {
			if !key.Valid() || !key.IsPublic() || !isStrong(key) {
				t.Errorf("the key %+v was taken", key)
			}
		}
	})
}

// stamps are tokens with their ends in one way to write a time.
func stamps(t Tokens) []Token {
	out := append([]Token{}, t.Tokens...)
	for i := range out {
		if !out[i].Expires.IsZero() {
			out[i].Expires = out[i].Expires.UTC()
		}
	}
	return out
}
