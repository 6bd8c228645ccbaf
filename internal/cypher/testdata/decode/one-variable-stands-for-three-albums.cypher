CREATE (album:Album {name: 'Dark Side of the Moon', year: 1973})
CREATE (album:Album {name: 'The Wall', year: 1979})
CREATE (album:Album {name: 'The Piper at the Gates of Dawn', year: 1976})
CREATE (Pink Floyd)-[:RELEASED_ALBUM]->(album)
