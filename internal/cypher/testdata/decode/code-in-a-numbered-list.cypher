1. CREATE (a:Person {name: 'Ada'})
2. CREATE (b:City {name: 'London'})
- `CREATE (a)-[:BORN_IN]->(b)`: it's where she was born
