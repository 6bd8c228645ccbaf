CREATE (filmDirector)-[:hasDirectedFilm]->(PinkFloyd)
CREATE (marie_curie)-[:BORN_IN]->(city2)
