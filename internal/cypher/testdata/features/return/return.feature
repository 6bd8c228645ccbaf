Feature: Values are returned
  Scenario: expressions, maps and lists
    Given any graph
    When executing query:
      """
      RETURN 7 / 2 AS whole, 7.0 / 2 AS half, [1, 2][-1] AS last, {a: 'x'}.a AS field
      """
    Then the result should be, in any order:
      | whole | half | last | field |
      | 3     | 3.5  | 2    | 'x'   |
    And no side effects

  Scenario: null is equal to nothing
    Given any graph
    When executing query:
      """
      RETURN null = null AS same, null IS NULL AS isNull
      """
    Then the result should be, in any order:
      | same | isNull |
      | null | true   |
    And no side effects

  Scenario: a variable that is not there is an error
    Given any graph
    When executing query:
      """
      RETURN river
      """
    Then a SyntaxError should be raised at compile time: UndefinedVariable
