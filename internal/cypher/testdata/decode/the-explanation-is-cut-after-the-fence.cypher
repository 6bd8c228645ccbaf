Let's approach this step-by-step:

1. **Identify the key elements**: We need to find the Prime Minister of the UK during the Suez Crisis. The Suez Crisis was a significant international incident that occurred in 1956, involving Egypt and Israel.

2. **Research the Prime Minister**: We need to find the name of the Prime Minister who served during this period. The Prime Minister who served during the Suez Crisis was Harold Macmillan.

3. **Formulate the Cypher query**: We will use the MERGE statement to create a relationship between the Prime Minister and the country they served during the Suez Crisis.

Here is the Cypher query:

```cypher
MERGE (pm:PrimeMinister {name: 'Harold Macmillan'})
MERGE (uk:Country {name: 'United Kingdom'})
MERGE (pm)-[:SERVED_IN {year: 1956}]->(uk)
```

This query does the following:
- Creates a node for Harold Macmillan as a PrimeMinister.
-
