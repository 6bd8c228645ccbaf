package cypher

import "fmt"

// Phase says when openCypher detects an error.
type Phase string

// The two phases of openCypher's error model.
const (
	CompileTime Phase = "compile time"
	Runtime     Phase = "runtime"
)

// Error is an error of openCypher's error model: the kind and detail are its words ("SyntaxError",
// "UndefinedVariable"), as its Technology Compatibility Kit checks them.
type Error struct {
	Kind   string
	Detail string
	Phase  Phase
	// Line and Column count from 1; columns are characters, not bytes.
	Line, Column int
	// Message says what is wrong, in words for a person.
	Message string

	offset int32 // in the text
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("cypher %d:%d: %s (%s, %s): %s", e.Line, e.Column, e.Kind, e.Detail, e.Phase, e.Message)
}

// LimitError names the exceeded limit of a run.
type LimitError struct {
	// What is limited: "nodes", "steps", ...
	What string
	// Limit is the bound that was reached.
	Limit int
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("cypher: more than %d %s: raise the limit or send a smaller query", e.Limit, e.What)
}

// The kinds of openCypher's error model that this package raises.
const (
	syntaxError     = "SyntaxError"
	semanticError   = "SemanticError"
	typeError       = "TypeError"
	argumentError   = "ArgumentError"
	entityNotFound  = "EntityNotFound"
	constraintError = "ConstraintVerificationFailed"
	parameterError  = "ParameterMissing"
	procedureError  = "ProcedureError"
)
