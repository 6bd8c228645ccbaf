package rest

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"time"
)

// document is the OpenAPI document: see package openapi.
//
//go:embed openapi.json
var document []byte

// serveDocument serves the OpenAPI document to everybody: it tells nothing of
// what a mesh holds.
func serveDocument(w http.ResponseWriter, r *http.Request) {
	sum := sha256.Sum256(document)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(document))
}
