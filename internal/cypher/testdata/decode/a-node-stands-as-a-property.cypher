CREATE (caffeine:Chemical {name: 'Caffeine'})
CREATE (formula:Formula {chemical: caffeine, formula: 'C8H7N4O2'})
CREATE (caffeine)-[:FORMULATED_AS]->(formula)
