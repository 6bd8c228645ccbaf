Feature: Lists are unwound
  Scenario: to a row for each item, with parameters
    Given any graph
    And parameters are:
      | names | ['Tessen', 'Olm'] |
    When executing query:
      """
      UNWIND $names AS name RETURN name
      """
    Then the result should be, in order:
      | name     |
      | 'Tessen' |
      | 'Olm'    |
    And no side effects
