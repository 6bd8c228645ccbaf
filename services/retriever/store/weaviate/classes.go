package weaviate

// bare is a collection that holds nothing but its description: it is divided
// by tenants, and has none, so that it has no shard. The schema is replicated by
// raft, so a change of the description is seen whole or not at all, and a node
// that was away knows the last one before it answers.
func bare(name, description string) class {
	return class{
		"class": name, "description": description,
		"multiTenancyConfig": map[string]any{"enabled": true},
		"vectorIndexType":    "hnsw", "vectorIndexConfig": map[string]any{"skip": true},
	}
}

// rowsOf is a collection of rows.
func (c Config) rowsOf(name, about string, properties []class) class {
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

// searched gives a collection an index of vectors of length 1, whose cosine is
// their product: Weaviate changes nothing about a vector of the distance "dot".
func (c Config) searched(def class, rows int) class {
	if rows <= c.Exact {
		def["vectorIndexType"] = "flat"
		def["vectorIndexConfig"] = map[string]any{"distance": "dot"}
		return def
	}
	def["vectorIndexConfig"] = map[string]any{
		"distance": "dot", "ef": c.EF, "efConstruction": c.EFConstruction, "maxConnections": c.Connections,
	}
	return def
}

// An indexed number can be looked up and compared; what is only kept costs no
// index.
func indexed(name string) class {
	return class{"name": name, "dataType": []string{"int"}, "indexFilterable": true, "indexRangeFilters": false}
}

func ranged(name string) class {
	return class{"name": name, "dataType": []string{"int"}, "indexFilterable": true, "indexRangeFilters": true}
}

func kept(name, dataType string) class {
	def := class{"name": name, "dataType": []string{dataType}, "indexFilterable": false}
	if dataType == "text" || dataType == "text[]" {
		def["indexSearchable"] = false
	}
	return def
}

// classesOf are the collections of a snapshot.
func (c Config) classesOf(home string, e entry) []class {
	name := func(part string) string { return collection(home, e.KG, e.Number, part) }
	facts := c.rowsOf(name(factsPart), "triples of a snapshot of triplemesh", []class{
		ranged(propTriple), ranged(propPlace), indexed(propSubject), indexed(propRelation), indexed(propObject),
		ranged(propFrom), ranged(propTo), kept(propValidity, "text[]"), kept(propEnds, "int[]"), kept(propNames, "text[]"),
	})
	if e.TripleVectors {
		facts = c.searched(facts, e.Triples)
	}
	return []class{
		facts,
		c.rowsOf(name(entitiesPart), "entities of a snapshot of triplemesh", []class{
			ranged(propNumber), kept(propName, "text"), kept(propShape, "int[]"), kept(propOut, "int[]"), kept(propIn, "int[]"),
		}),
		c.rowsOf(name(relationsPart), "relations of a snapshot of triplemesh", []class{
			ranged(propNumber), kept(propName, "text"), kept(propCount, "int"),
		}),
		c.rowsOf(name(namesPart), "the name index of a snapshot of triplemesh", []class{
			ranged(propNumber), class{"name": propData, "dataType": []string{"blob"}},
		}),
	}
}
