CREATE
  (a:Person {
    name: 'Ada',
    born: date('1815-12-10'),
    alias: [
      'Countess of Lovelace',
      'Ada King'
    ]
  }),
  (b:City {name: 'London'}),
  (a)-[:BORN_IN {year: 1815}]->(b)
  (a)-[:DIED_IN]->(b)
