Feature: Rows are passed on
  Scenario: aggregated by what is not aggregated
    Given an empty graph
    And having executed:
      """
      CREATE (:River {into: 'Vell', length: 120}), (:River {into: 'Vell', length: 40}), (:River {into: 'Sund', length: 9})
      """
    When executing query:
      """
      MATCH (r:River) WITH r.into AS lake, count(*) AS rivers, sum(r.length) AS length WHERE rivers > 1
      RETURN lake, rivers, length
      """
    Then the result should be, in any order:
      | lake   | rivers | length |
      | 'Vell' | 2      | 160    |
    And no side effects
