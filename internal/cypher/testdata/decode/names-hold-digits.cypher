CREATE (mountain:Mountain {name: 'K2'})
CREATE (mountain)-[:IS_HIGHER]->(mountain2:Mountain {name: 'Kangchenjunga'})
CREATE (mountain2)-[:IS_HIGHER]->(mountain3:Mountain {name: 'Makalu'})
