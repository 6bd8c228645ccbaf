// Package paging cuts lists into pages and reads them again (AIP-158).
package paging

import (
	"cmp"
	"context"
	"encoding/base64"
	"sort"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// ErrToken is returned for a page token that no page of the list had.
var ErrToken = status.Error(codes.InvalidArgument,
	"page_token: not a token of this list; pass next_page_token as it was returned")

// Cut returns the page of items that a request asks for, and the token of the next page; empty on
// the last. The items are sorted by key, and no two share one, so that a page begins after the last
// item of the page before, whatever was added or removed in between. A size of 0 means defaultSize.
func Cut[T any](items []T, key func(T) string, size uint32, defaultSize int, token string) ([]T, string, error) {
	last, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return nil, "", ErrToken
	}
	if token != "" {
		items = items[sort.Search(len(items), func(i int) bool { return key(items[i]) > string(last) }):]
	}
	length := cmp.Or(int(size), defaultSize)
	if len(items) <= length {
		return items, "", nil
	}
	return items[:length], base64.RawURLEncoding.EncodeToString([]byte(key(items[length-1]))), nil
}

// All reads every page of a list. Fetch returns the items of the page with a
// token, and the token of the next page.
func All[T any](fetch func(token string) ([]T, string, error)) ([]T, error) {
	var all []T
	for token := ""; ; {
		items, next, err := fetch(token)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if next == "" {
			return all, nil
		}
		token = next
	}
}

type lister interface {
	ListKnowledgeGraphs(ctx context.Context, req *retrieverv1.ListKnowledgeGraphsRequest,
		opts ...grpc.CallOption) (*retrieverv1.ListKnowledgeGraphsResponse, error)
}

// KnowledgeGraphs returns the snapshots of a knowledge graph from all pages; of every knowledge
// graph if kgName is empty.
func KnowledgeGraphs(ctx context.Context, client lister, kgName string) ([]*retrieverv1.SnapshotInfo, error) {
	return All(func(token string) ([]*retrieverv1.SnapshotInfo, string, error) {
		resp, err := client.ListKnowledgeGraphs(ctx, &retrieverv1.ListKnowledgeGraphsRequest{KgName: kgName,
			PageToken: token})
		return resp.GetSnapshots(), resp.GetNextPageToken(), err
	})
}
