CREATE (river:River {name: 'River Liffey'})
CREATE (city:City {name: 'Dublin'})
CREATE (river)-[:FLOWS_THROUGH]->(city)
CREATE (river)-[:ENDS_IN]->(sea)
