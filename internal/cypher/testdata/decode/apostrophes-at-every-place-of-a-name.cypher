CREATE (a:Book {name: 'Who's Afraid of Virginia Woolf?'})-[:BY]->(b {name: 'O''Neill'})
CREATE (c {name: 'Achilles''})-[:IN]->(d {name: 'Rock 'n' Roll', born: '1950'})
CREATE (e {name: "5" disk"})-[:OF]->(f {name: 'L\'Étranger'})
