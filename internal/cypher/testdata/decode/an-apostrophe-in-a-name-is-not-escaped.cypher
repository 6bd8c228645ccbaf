CREATE (mother:Person {name: 'Ellen O'Neal'})
CREATE (child:Person {name: 'Ellen O'Neal'})
CREATE (mother)-[:HAS_CHILD]->(child)
