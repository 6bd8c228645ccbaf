package scan

// scanFull offers the rows from…to to each query's best by their scores.
func (s *search) scanFull(from, to uint32, bests []*best) error {
	size := int64(s.dims) * 4
	if err := s.touch(Full, int64(from)*size, int64(to)*size); err != nil {
		return err
	}
	var out [2 * group]float32
	for row := from; row < to; row += 2 {
		next := min(row+1, to-1)
		for g, queries := range s.plain {
			s.kernels.products(&s.row(row)[0], &s.row(next)[0], &queries[0], s.dims, &out)
			for i := range min(group, len(bests)-g*group) {
				b := bests[g*group+i]
				s.score(row, out[i], b)
				if next > row {
					s.score(next, out[group+i], b)
				}
			}
		}
	}
	return nil
}

func (s *search) score(row uint32, score float32, b *best) {
	if score >= b.floor && s.pass(row) {
		b.add(candidate{row: row, score: score})
	}
}

// rescore gives a query's candidates their scores.
func (s *search) rescore(query int, found []candidate) error {
	size := int64(s.dims) * 4
	var out [2 * group]float32
	for i := 0; i < len(found); i += 2 {
		next := min(i+1, len(found)-1)
		for _, c := range found[i : next+1] {
			if err := s.touch(Full, int64(c.row)*size, int64(c.row+1)*size); err != nil {
				return err
			}
		}
		s.kernels.products(&s.row(found[i].row)[0], &s.row(found[next].row)[0], &s.plain[query/group][0], s.dims, &out)
		found[i].score = out[query%group]
		if next > i {
			found[next].score = out[group+query%group]
		}
	}
	return nil
}

// plainGroups lays queries out by fours, as the kernel takes them.
func plainGroups(queries [][]float32, dims int) [][]float32 {
	var groups [][]float32
	for from := 0; from < len(queries); from += group {
		four := make([]float32, group*dims)
		for i, q := range queries[from:min(from+group, len(queries))] {
			copy(four[i*dims:], q)
		}
		groups = append(groups, four)
	}
	return groups
}
