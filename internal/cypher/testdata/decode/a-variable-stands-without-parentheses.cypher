MATCH c WHERE c.name = 'Asunción' CREATE (p:Country { name: c.name, capital: c.name }) MERGE (p)-[e:exports { type: 'Main exports' }]->(o:Export { name: 'Main exports' })
