package cypher

// walk visits an expression and everything in it, patterns included.
func walk(e expr, visit func(expr)) {
	if e == nil {
		return
	}
	visit(e)
	for _, child := range children(e) {
		walk(child, visit)
	}
}

// children are the expressions directly inside one; nil ones are left out.
func children(e expr) []expr {
	switch e := e.(type) {
	case *property:
		return []expr{e.of}
	case *index:
		return []expr{e.of, e.at}
	case *slice:
		return present(e.of, e.from, e.to)
	case *labelTest:
		return []expr{e.of}
	case *unary:
		return []expr{e.of}
	case *binary:
		return []expr{e.left, e.right}
	case *comparison:
		return e.operands
	case *isNull:
		return []expr{e.of}
	case *listExpr:
		return e.items
	case *mapExpr:
		return e.values
	case *caseExpr:
		list := present(append(append([]expr{e.subject}, e.when...), e.then...)...)
		return append(list, present(e.otherwise)...)
	case *call:
		return e.args
	case *comprehension:
		return present(e.list, e.condition, e.result)
	case *quantifier:
		return present(e.list, e.condition)
	case *reduceExpr:
		return []expr{e.initial, e.list, e.result}
	case *patternExpr:
		return append(patternParts(e.paths), present(e.condition)...)
	case *patternComprehension:
		return append(patternParts([]*pathPattern{e.path}), present(e.condition, e.result)...)
	}
	return nil
}

func present(list ...expr) []expr {
	kept := list[:0:0]
	for _, e := range list {
		if e != nil {
			kept = append(kept, e)
		}
	}
	return kept
}

func patternParts(paths []*pathPattern) []expr {
	var list []expr
	for _, path := range paths {
		for _, n := range path.nodes {
			list = append(list, present(n.props)...)
		}
		for _, r := range path.rels {
			list = append(list, present(r.props)...)
		}
	}
	return list
}
