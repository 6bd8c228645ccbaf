CREATE (:Person {name: 'Ada'}), (:City {name: 'London'})
MATCH (p:Person), (c:City) WHERE p.name = 'Ada' AND c.name = 'London'
CREATE (p)-[:BORN_IN]->(c)
