package cypher

// delete takes away nodes, relationships and paths. Whether a deleted node
// has relationships left is looked at when the query ends, so that they may be
// deleted after it.
func (x *executor) delete(c *deleteClause, rows []row) {
	for _, r := range rows {
		for _, e := range c.exprs {
			x.deleteValue(x.eval(e, r), c, e.where())
		}
	}
}

func (x *executor) deleteValue(v Value, c *deleteClause, at span) {
	if !x.step(1) {
		return
	}
	switch v := v.(type) {
	case nil:
	case *Node:
		x.deleteNode(v, c.detach, at)
	case *Relationship:
		x.deleteRel(v)
	case *Path:
		for _, r := range v.Relationships {
			x.deleteRel(r)
		}
		for _, n := range v.Nodes {
			x.deleteNode(n, c.detach, at)
		}
	default:
		x.fail(at, typeError, "InvalidArgumentType", "DELETE takes nodes, relationships and paths")
	}
}

func (x *executor) deleteRel(r *Relationship) {
	if !r.deleted && x.step(1+(len(r.start.out)+len(r.end.in))/8) {
		x.graph.deleteRel(r)
	}
}

func (x *executor) deleteNode(n *Node, detach bool, at span) {
	if n.deleted {
		return
	}
	if detach {
		for len(n.out) > 0 && x.err == nil {
			x.deleteRel(n.out[len(n.out)-1])
		}
		for len(n.in) > 0 && x.err == nil {
			x.deleteRel(n.in[len(n.in)-1])
		}
	}
	cost := 1
	for _, l := range n.labels {
		cost += len(x.graph.index.byLabel[l]) / 8
	}
	if x.step(cost) {
		x.graph.deleteNode(n)
		x.cut = append(x.cut, cutNode{n, at})
	}
}

// checkDeleted fails where a deleted node still has relationships.
func (x *executor) checkDeleted() {
	for _, c := range x.cut {
		if len(c.node.out)+len(c.node.in) > 0 {
			x.fail(c.at, constraintError, "DeleteConnectedNode", "a node with relationships can be deleted by DETACH DELETE only")
		}
	}
}
