CREATE (p:Person {name: 'Ada'})
SET p.birthDate = '1815-12-10', p.nick = 'Countess'
MATCH (x:Person {name: 'Ada'})
SET x.occupations = ['writer', 'mathematician']
