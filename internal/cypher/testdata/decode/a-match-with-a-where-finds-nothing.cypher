Let's approach this step-by-step:

1. **Identify the key elements**: We need to find the person who developed Go and the company they worked for.

2. **Research Go development**:
   - Go was developed by Google in 2009.
   - Google is known for its open-source projects, including Go.

3. **Formulate the Cypher query**:
   - We need to find the person who developed Go.
   - We need to find the company that developed Go.

4. **Write the Cypher query**:
   - Use the `MATCH` clause to find the person who developed Go.
   - Use the `WHERE` clause to filter the results to only include the person who developed Go.
   - Use the `RETURN` clause to return the name of the person and the company.

Here is the Cypher query:

```cypher
MATCH (p:Person)-[r:Developed]->(c:Company)
WHERE r.name = 'Go'
RETURN p.name, c.name
```

This query will return the name
