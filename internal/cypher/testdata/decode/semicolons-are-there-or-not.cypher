CREATE (a:Person {name: 'Ada'});
CREATE (b:City {name: 'London'}) CREATE (a)-[:BORN_IN]->(b);CREATE (a)-[:DIED_IN]->(b)
MATCH (a:Person {name: 'Ada'}) CREATE (a)-[:WROTE]->(:Work {name: 'Notes'});
