CREATE (p:Person {name: 'Pink Floyd'})
UNWIND ['The Wall', 'Animals'] AS title
CREATE (p)-[:RELEASED]->(:Album {name: title})
