CREATE (person:Person {name: 'Prince Edward', gender: 'male'})
CREATE (person)-[:CHILD_OF]->(queen:Person {name: 'Queen Victoria', gender: 'female'})
