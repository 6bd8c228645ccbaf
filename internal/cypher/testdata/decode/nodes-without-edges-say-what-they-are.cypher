CREATE (bleacher:Creature {name: 'Bleacher Creatures'})
CREATE (location:Location {name: 'Bleacher Creatures'})
