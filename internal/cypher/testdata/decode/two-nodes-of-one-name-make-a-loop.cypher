CREATE (lake:Lake {name: 'Rhône'})
CREATE (river:River {name: 'Rhône'})
CREATE (lake)-[:FLOWS_THROUGH]->(river)
