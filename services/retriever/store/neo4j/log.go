package neo4j

const (
	// logWriteAccess: the configured Neo4j user may write, which triplemesh does not need. Do: set
	// user to one that may only read.
	logWriteAccess = "neo4j user has write access"
	// logPrivilegesUnknown: this Neo4j edition does not list privileges, so write access was not
	// checked. Do: nothing; triplemesh only reads.
	logPrivilegesUnknown = "neo4j user privileges unknown"
)
