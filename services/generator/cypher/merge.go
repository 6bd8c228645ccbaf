package cypher

// merge finds the whole path or else creates the whole path, row by row: a
// row sees what the rows before it created.
func (x *executor) merge(c *mergeClause, rows []row) []row {
	if x.loose != nil {
		return x.looseMerge(c, rows)
	}
	var out []row
	m := x.matcher([]*pathPattern{c.path})
	for _, r := range rows {
		x.noNullProps(c.path, r)
		if x.err != nil {
			return nil
		}
		var found []row
		m.each(x.copyRow(r), func(match row) bool {
			found = x.emit(found, x.copyRow(match))
			return x.err == nil
		})
		actions := c.onMatch
		if len(found) == 0 {
			x.createPath(c.path, r)
			found, actions = []row{r}, c.onCreate
		}
		for _, r := range found {
			x.set(actions, r)
			out = x.emit(out, r)
		}
	}
	return out
}

// noNullProps refuses to merge on null: such a pattern would never match what
// it creates.
func (x *executor) noNullProps(path *pathPattern, r row) {
	check := func(props expr) {
		if m, ok := props.(*mapExpr); ok {
			for i, v := range m.values {
				if x.eval(v, r) == nil && x.err == nil {
					x.fail(v.where(), semanticError, "MergeReadOwnWrites", "MERGE cannot use null for the property %s", m.keys[i])
				}
			}
		}
	}
	for _, n := range path.nodes {
		check(n.props)
	}
	for _, rel := range path.rels {
		check(rel.props)
	}
}
