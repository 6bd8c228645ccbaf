CREATE (n:Nationality {name: "Igbo"})-[:BELONGS]->(r:Religion {name: "Christianity"})-[:LIVES]->(c:Person {name: "Chinua Achebe"})
