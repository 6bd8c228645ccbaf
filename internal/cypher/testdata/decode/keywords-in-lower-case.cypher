create (a:Person {name: 'Ada'})
merge (b:City {name: 'London'})
match (p:Person {name: 'Ada'}) merge (p)-[:BORN_IN]->(b)
