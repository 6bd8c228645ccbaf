CREATE (album:Album {name: 'The Game', year: 2010, artist: 'D'Angelo'})
CREATE (label:Label {name: 'Polydor'})
CREATE (album)-[:LABEL_BY]->(label)
