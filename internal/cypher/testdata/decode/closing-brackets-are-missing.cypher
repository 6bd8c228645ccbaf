CREATE (a:Person {name: 'Ada'
CREATE (b:Person {name: 'Byron')
CREATE (a)-[:CHILD_OF->(b)
CREATE (a)-[:BORN_IN]->(c:City {name: 'London'}
