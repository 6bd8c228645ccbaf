Feature: Results are united
  Scenario: without duplicates
    Given any graph
    When executing query:
      """
      RETURN 1 AS n UNION RETURN 1 AS n UNION RETURN 2 AS n
      """
    Then the result should be, in any order:
      | n |
      | 1 |
      | 2 |
    And no side effects
