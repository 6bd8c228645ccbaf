Feature: Lakes are merged
  Scenario: one that is there is not created
    Given an empty graph
    And having executed:
      """
      CREATE (:Lake {name: 'Vell'})
      """
    When executing query:
      """
      MERGE (l:Lake {name: 'Vell'}) ON MATCH SET l.seen = true RETURN l.seen AS seen
      """
    Then the result should be, in any order:
      | seen |
      | true |
    And the side effects should be:
      | +properties | 1 |

  Scenario: one that is not there is created
    Given an empty graph
    When executing query:
      """
      MERGE (l:Lake {name: 'Vell'}) ON CREATE SET l.depth = 7 RETURN l.depth AS depth
      """
    Then the result should be, in any order:
      | depth |
      | 7     |
    And the side effects should be:
      | +nodes      | 1 |
      | +labels     | 1 |
      | +properties | 2 |
