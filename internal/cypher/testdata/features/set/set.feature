Feature: Properties are set
  Scenario: null removes one
    Given an empty graph
    And having executed:
      """
      CREATE (:River {name: 'Tessen', length: 120})
      """
    When executing query:
      """
      MATCH (r:River) SET r.length = null RETURN keys(r) AS keys
      """
    Then the result should be, in any order:
      | keys     |
      | ['name'] |
    And the side effects should be:
      | -properties | 1 |
