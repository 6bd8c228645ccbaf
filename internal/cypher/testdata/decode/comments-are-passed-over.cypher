// the people
CREATE (a:Person {name: 'Ada'}) // it's her
/* and
the city */
CREATE (b:City {name: 'London'})
-- an edge
CREATE (a)-[:BORN_IN]->(b)
