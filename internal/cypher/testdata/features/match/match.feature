Feature: Rivers are found
  Background:
    Given an empty graph
    And having executed:
      """
      CREATE (t:River {name: 'Tessen', length: 120})-[:ENDS_IN]->(:Lake {name: 'Vell'}),
             (:River {name: 'Olm', length: 40})-[:ENDS_IN]->(t)
      """

  Scenario Outline: by label and property
    When executing query:
      """
      MATCH (r:River {name: '<name>'}) RETURN r.length AS length
      """
    Then the result should be, in any order:
      | length   |
      | <length> |
    And no side effects
    Examples:
      | name   | length |
      | Tessen | 120    |
      | Olm    | 40     |

  Scenario: along relationships of any number
    When executing query:
      """
      MATCH (:River {name: 'Olm'})-[:ENDS_IN*]->(x) RETURN x.name AS name ORDER BY name
      """
    Then the result should be, in order:
      | name     |
      | 'Tessen' |
      | 'Vell'   |
    And no side effects

  Scenario: what is not there is null if it is optional
    When executing query:
      """
      MATCH (l:Lake) OPTIONAL MATCH (l)-[:ENDS_IN]->(x) RETURN l.name AS name, x
      """
    Then the result should be, in any order:
      | name   | x    |
      | 'Vell' | null |
    And no side effects
