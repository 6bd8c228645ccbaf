MATCH (m: Museum) WHERE m.name = 'The Metropolitan Museum of Art' AND (p: Painting) -[r:includes]-> (m) AND r.title = 'The Girl with a Pearl Earring' RETURN p.artist
