CREATE (launchDate:Date {year: 1957, month: 10, day: 30})
CREATE (sputnik2:Spacecraft {name: 'Sputnik 2'})
CREATE (launchDate)-[:LAUNCHED]->(sputnik2)
