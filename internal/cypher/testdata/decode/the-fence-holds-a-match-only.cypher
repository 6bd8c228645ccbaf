Let's approach this step-by-step:

1. **Identify the relevant database**: Twickenham is a venue for various sports, so we need to look at the database that contains information about sports venues.

2. **Determine the relevant table**: The table that contains information about sports venues is likely named "sports_venues".

3. **Specify the columns**: We need to specify the columns that contain information about the sports played at Twickenham. These columns might include "venue_name", "sport_name", "location", etc.

4. **Write the Cypher query**: We can use the `MATCH` clause to find the venues that match Twickenham and then use the `WHERE` clause to filter the results to only include the sports played at Twickenham.

Here's the Cypher query:

```cypher
MATCH (v:SportsVenue {name: 'Twickenham'})
RETURN v.sport_name
```

Explanation:
- `MATCH (v:SportsVenue {name: 'Twickenham'})`: This part of the query matches the venue named '
