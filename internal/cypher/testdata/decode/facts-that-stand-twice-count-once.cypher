CREATE (a {name: 'Ada'})-[:BORN_IN]->(b {name: 'London'})
MERGE (a)-[:BORN_IN]->(b)
CREATE (c {name: 'Ada'})-[:bornIn]->(d {name: 'London'})
