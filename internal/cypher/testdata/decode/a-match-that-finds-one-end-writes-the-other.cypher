CREATE (:Person {name: 'Ada'})
MATCH (p:Person {name: 'Ada'}), (c:City {name: 'London'})
MERGE (p)-[:BORN_IN]->(c)
ON CREATE SET p.known = true
