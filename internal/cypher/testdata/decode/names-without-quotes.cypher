CREATE (a:Person {name: Albert Einstein, born: 1879-03-14, field: physics})
CREATE (b:City {name: Ulm})
CREATE (a)-[:BORN_IN]->(b)
