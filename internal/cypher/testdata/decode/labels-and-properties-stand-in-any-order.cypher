CREATE (a {name: 'Ada'}:Person)
CREATE (:`Computer Scientist` {name: 'Turing'})-[:OF]->(:Country Name {title: 'England'})
CREATE (c:City name: 'London', population: 9000000)
CREATE ('Paris')-[:IN]->(France), (St. Louis)-[:IN]->(USA)
