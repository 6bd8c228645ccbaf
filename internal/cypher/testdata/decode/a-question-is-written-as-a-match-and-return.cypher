MATCH (c:City {name: 'Canberra'}) RETURN c.population
