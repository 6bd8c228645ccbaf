CREATE (probe:SpaceProbe {name: 'Pluto Orbiter', year: 2006})
CREATE (pluto:Planet {name: 'Pluto'})
CREATE (probe)-[:VISITED]->(pluto)
