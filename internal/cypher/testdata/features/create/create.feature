Feature: Rivers are created
  Scenario: a node with a label and a property
    Given an empty graph
    When executing query:
      """
      CREATE (:River {name: 'Tessen', length: 120})
      """
    Then the result should be empty
    And the side effects should be:
      | +nodes      | 1 |
      | +labels     | 1 |
      | +properties | 2 |

  Scenario: a path of two relationships
    Given an empty graph
    When executing query:
      """
      CREATE (:Lake {name: 'Vell'})<-[:ENDS_IN]-(:River {name: 'Tessen'})-[:RISES_IN]->(:Hills {name: 'Harn'})
      """
    Then the result should be empty
    And the side effects should be:
      | +nodes         | 3 |
      | +relationships | 2 |
      | +labels        | 3 |
      | +properties    | 3 |

  Scenario: a relationship without a type is an error
    Given an empty graph
    When executing query:
      """
      CREATE ()-->()
      """
    Then a SyntaxError should be raised at compile time: NoSingleRelationshipType
