CREATE (author:Person {name: 'Albert Camus'})
CREATE (spouse:Person {name: 'Jean-Paul Sartre'})
CREATE (author)-[:HAS_SPouse]->(spouse)
