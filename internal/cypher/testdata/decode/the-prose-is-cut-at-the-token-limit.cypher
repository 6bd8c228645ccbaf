Let's approach this step-by-step:

1. **Identify Michael Jordan's career**: Michael Jordan played for the Chicago Bulls from 1984 to 1993.
2. **Determine his team before the Bulls**: Before the Bulls, Jordan played for the Boston Celtics.
3. **Determine his team after the Bulls**: After the Bulls, Jordan played for the Los Angeles Lakers.

Now, let's write the Cypher CREATE statements based on these facts:

```cypher
CREATE (m:Player {name: 'Michael Jordan'})
CREATE (b:Team {name: 'Boston Celtics'})
CREATE (l:Team {name: 'Los Angeles Lakers'})
CREATE (m)-[:played_for {team: b}]->(b)
CREATE (m)-[:played_for {team: l}]->(l)
```

Explanation:
- We create a node for Michael Jordan.
- We create nodes for Boston Celtics and Los Angeles Lakers.
- We create relationships between Michael Jordan and the teams he played for, specifying the team as the `team` property in
