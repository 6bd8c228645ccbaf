Feature: Rivers are deleted
  Scenario: with their relationships
    Given an empty graph
    And having executed:
      """
      CREATE (:River)-[:ENDS_IN]->(:Lake)
      """
    When executing query:
      """
      MATCH (r:River) DETACH DELETE r
      """
    Then the result should be empty
    And the side effects should be:
      | -nodes         | 1 |
      | -relationships | 1 |
      | -labels        | 1 |
