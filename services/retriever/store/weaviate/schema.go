package weaviate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// class is a collection's definition as the REST API has it; upstream's own
// has no end of optional parts.
type class map[string]any

var (
	errNoClass    = errors.New("no such collection")
	errClassThere = errors.New("the collection exists already")
)

// schemaTimeout bounds one request: the loss of the raft leader holds them up for some ten seconds.
const schemaTimeout = 30 * time.Second

// rest sends a request to the node that answered last, then to the others.
func (c *cluster) rest(ctx context.Context, method, path string, consistent bool, body, into any) error {
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return fmt.Errorf("write %s %s: %w", method, path, err)
		}
	}
	var last error
	first := int(c.lastHealthy.Load())
	for i := range max(len(c.config.HTTP), min(c.config.Attempts, 3)) {
		at := (first + i) % len(c.config.HTTP)
		if i >= len(c.config.HTTP) {
			if err := sleep(ctx, backoff(i)); err != nil {
				break
			}
		}
		again, err := c.restAt(ctx, c.config.HTTP[at], method, path, consistent, sent, into)
		if err == nil {
			c.lastHealthy.Store(int32(at))
			return nil
		}
		if last = err; !again || ctx.Err() != nil {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return last
}

func (c *cluster) restAt(ctx context.Context, base, method, path string, consistent bool, sent []byte,
	into any) (again bool, err error) {
	limit := schemaTimeout
	if method == http.MethodGet {
		limit = max(c.config.Timeout, time.Second)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(base, "/")+path, bytes.NewReader(sent))
	if err != nil {
		return false, fmt.Errorf("ask weaviate at %s: %w", base, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("consistency", fmt.Sprint(consistent))
	if c.config.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.config.APIKey)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return true, status.Errorf(codes.Unavailable,
			"%s %s: weaviate at %s: %v; see that the nodes of retriever.store.weaviate.http run", method,
			path, base, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return true, status.Errorf(codes.Unavailable, "%s %s: weaviate at %s: %v", method, path, base, err)
	}
	switch {
	case resp.StatusCode/100 == 2:
		if into == nil {
			return false, nil
		}
		if err := json.Unmarshal(text, into); err != nil {
			return true, status.Errorf(codes.Unavailable, "%s %s: weaviate at %s answers no JSON: %v", method,
				path, base, err)
		}
		return false, nil
	case resp.StatusCode == http.StatusNotFound:
		return false, errNoClass
	case resp.StatusCode == http.StatusUnprocessableEntity && strings.Contains(string(text), "already exists"):
		return false, errClassThere
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		return false, status.Errorf(codes.PermissionDenied,
			"%s %s: weaviate at %s answers %s; see retriever.store.weaviate.api_key", method, path, base, resp.Status)
	}
	return resp.StatusCode >= 500, status.Errorf(codes.Unavailable, "%s %s: weaviate at %s answers %s: %.300s", method,
		path, base, resp.Status, text)
}

func (c *cluster) readClass(ctx context.Context, name string, consistent bool) (class, error) {
	var found class
	err := c.rest(ctx, http.MethodGet, "/v1/schema/"+name, consistent, nil, &found)
	return found, err
}

func (c *cluster) createClass(ctx context.Context, def class) error {
	return c.rest(ctx, http.MethodPost, "/v1/schema", true, def, nil)
}

// deleteClass removes a collection with all its rows, if it is there.
func (c *cluster) deleteClass(ctx context.Context, name string) error {
	err := c.rest(ctx, http.MethodDelete, "/v1/schema/"+name, true, nil, nil)
	if errors.Is(err, errNoClass) {
		return nil
	}
	return err
}

// describe replaces a collection's description.
func (c *cluster) describe(ctx context.Context, def class, description string) error {
	def["description"] = description
	return c.rest(ctx, http.MethodPut, "/v1/schema/"+fmt.Sprint(def["class"]), true, def, nil)
}

// classes lists those whose names begin with a prefix.
func (c *cluster) classes(ctx context.Context, prefix string) ([]class, error) {
	var all struct{ Classes []class }
	if err := c.rest(ctx, http.MethodGet, "/v1/schema", true, nil, &all); err != nil {
		return nil, err
	}
	var some []class
	for _, def := range all.Classes {
		if name, _ := def["class"].(string); strings.HasPrefix(name, prefix) {
			some = append(some, def)
		}
	}
	return some, nil
}

// waitForClasses waits until each node that answers knows some collections: one
// that was just made is known elsewhere up to a tenth of a second later.
func (c *cluster) waitForClasses(ctx context.Context, names []string) error {
	for _, base := range c.config.HTTP {
		for _, name := range names {
			for i := 1; ; i++ {
				_, err := c.restAt(ctx, base, http.MethodGet, "/v1/schema/"+name, false, nil, nil)
				if !errors.Is(err, errNoClass) {
					break // one that cannot be asked knows it when it is back
				}
				if i > 100 {
					return status.Errorf(codes.Unavailable,
						"weaviate at %s does not know collection %s; see that node's log", base, name)
				}
				if err := sleep(ctx, backoff(min(i, 4))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// node is one as the others see it.
type node struct {
	Name   string
	Shards []struct{ Name string }
}

// nodes lists the members of the cluster, also those that answer slowly or not at all; with a
// collection's name also what of it they hold, as far as they answer.
func (c *cluster) nodes(ctx context.Context, collection string) ([]node, error) {
	path := "/v1/nodes"
	if collection != "" {
		path += "/" + collection + "?output=verbose"
	}
	var found struct{ Nodes []node }
	err := c.rest(ctx, http.MethodGet, path, true, nil, &found)
	return found.Nodes, err
}

// holders are the nodes that have a replica of some part of a collection. All
// replicas must be there; nodes that are slow to say so are asked again.
func (c *cluster) holders(ctx context.Context, collection string) (names []string, err error) {
	for i := 1; ; i++ {
		names, err = c.askHolders(ctx, collection)
		if err == nil || i > 2*c.config.Attempts || sleep(ctx, backoff(i)) != nil {
			return names, err
		}
	}
}

func (c *cluster) askHolders(ctx context.Context, collection string) ([]string, error) {
	nodes, err := c.nodes(ctx, collection)
	if err != nil {
		return nil, fmt.Errorf("ask which nodes hold collection %s: %w", collection, err)
	}
	var names []string
	replicas := map[string]int{}
	for _, n := range nodes {
		if len(n.Shards) > 0 {
			names = append(names, n.Name)
		}
		for _, s := range n.Shards {
			replicas[s.Name]++
		}
	}
	for shard, n := range replicas {
		if n != c.config.Replicas {
			return nil, status.Errorf(codes.Unavailable, "shard %s of collection %s is on %d nodes of %d; load again "+
				"when all nodes of the cluster run", shard, collection, n, c.config.Replicas)
		}
	}
	if len(replicas) == 0 {
		return nil, status.Errorf(codes.Unavailable,
			"no node holds collection %s; see that the nodes of retriever.store.weaviate.http run", collection)
	}
	return names, nil
}

// descriptionClass is a collection that holds nothing but its description: it is divided
// by tenants, and has none, so that it has no shard. The schema is replicated by
// raft, so a change of the description is seen whole or not at all, and a node
// that was away knows the last one before it answers.
func descriptionClass(name, description string) class {
	return class{
		"class": name, "description": description,
		"multiTenancyConfig": map[string]any{"enabled": true},
		"vectorIndexType":    "hnsw", "vectorIndexConfig": map[string]any{"skip": true},
	}
}

func (c Config) rowClass(name, about string, properties []class) class {
	def := class{
		"class": name, "description": about, "properties": properties,
		"replicationConfig": map[string]any{"factor": c.Replicas, "asyncEnabled": c.Replicas > 1},
		"vectorIndexType":   "hnsw", "vectorIndexConfig": map[string]any{"skip": true},
	}
	if c.Shards > 0 {
		def["shardingConfig"] = map[string]any{"desiredCount": c.Shards}
	}
	return def
}

// withVectorIndex gives a collection an index of vectors of length 1, whose cosine is
// their product: Weaviate changes nothing about a vector of the distance "dot". The index compares
// eight bits a component, which takes a quarter of the memory and finds as much; what it chooses is
// compared whole here, not there as well.
func (c Config) withVectorIndex(def class, rows int) class {
	bits := class{"enabled": true, "bits": 8, "rescoreLimit": 0}
	if rows <= c.Exact {
		bits["cache"] = true
		def["vectorIndexType"] = "flat"
		def["vectorIndexConfig"] = class{"distance": "dot", "rq": bits}
		return def
	}
	def["vectorIndexConfig"] = class{
		"distance": "dot", "ef": c.EF, "efConstruction": c.EFConstruction, "maxConnections": c.Connections, "rq": bits,
	}
	return def
}

// An indexed number can be looked up; one with a range index also compared.
func indexedProperty(name string, isRange bool) class {
	return class{"name": name, "dataType": []string{"int"}, "indexFilterable": !isRange, "indexRangeFilters": isRange}
}

// snapshotClasses are the collections of a snapshot; one without triples' vectors is its structure alone.
func (c Config) snapshotClasses(home string, e entry) []class {
	name := func(part string) string { return collection(home, e.KG, e.Number, part) }
	all := []class{c.rowClass(name(structurePart), "the structure of a snapshot of triplemesh", []class{
		{"name": propData, "dataType": []string{"blob"}},
	})}
	if !e.TripleVectors {
		return all
	}
	properties := []class{indexedProperty(propSubject, false), indexedProperty(propRelation, false),
		indexedProperty(propBlock, false)}
	if e.Dated {
		properties = append(properties, indexedProperty(propFrom, true), indexedProperty(propTo, true))
	}
	return append(all, c.withVectorIndex(c.rowClass(name(vectorsPart), "vectors of a snapshot of triplemesh",
		properties), e.Triples))
}
