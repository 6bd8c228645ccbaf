CREATE (sovietUnion:Dissolution {year: 1991, leader: 'Gorbachev'})
CREATE (lastLeader:Person {name: 'Gorbachev'})
