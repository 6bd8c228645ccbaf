CREATE (a:Person {name: 'Ada'})
CREATE )]}((:::
CREATE (b:City {name: 'London'})
SET a.x = = 3
UNWIND [1,2 AS x RETURN
CREATE (a)-[:BORN_IN]->(b)
