CREATE (a:Person {name: ‘Marie Curie’})-[:BORN_IN]->(b:City {name: “Warsaw”})
