CREATE (country:Country {name: 'Argentina'})
CREATE (border:Border {country: country, neighboringCountry: 'Chile', direction: 'east'})
CREATE (currency:Currency {name: 'Argentine Peso'})
CREATE (country)-[:HAS_CURRENCY]->(currency)
