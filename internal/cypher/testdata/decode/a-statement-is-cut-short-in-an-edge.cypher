CREATE (a:Person {name: 'Ada'})
CREATE (b:Work {name: 'Notes'})
CREATE (a)-[:WROTE]->(b)
CREATE (a)-[:KNOWS