Let's approach this step-by-step:

1. **Identify the company**: The SPW subway car is made by the SPW Company.
2. **Find the company's name**: The SPW Company is known as SPW.
3. **Formulate the query**: We need to find the company that makes the SPW subway car.

Now, let's write the Cypher query to achieve this:

```cypher
MERGE (company:Company {name: 'SPW'})
RETURN company
```

This query does the following:
- `MERGE (company:Company {name: 'SPW'})`: This creates a new node in the graph with the label `Company` and the property `name` set to 'SPW'. If a node with this name already exists, it will be reused.
- `RETURN company`: This returns the company node that was created or reused.

This query will correctly answer the question "Which company makes the SPW subway car? "
