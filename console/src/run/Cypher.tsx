import type { PgAkvGraphs } from "../api/messages";

/** The Cypher that the model wrote, and what was wrong with it. */
export function Cypher({ graphs }: { graphs: PgAkvGraphs }) {
  return (
    <details class="fold">
      <summary>The Cypher the model wrote</summary>
      <pre>
        <code>{graphs.cypher}</code>
      </pre>
      {graphs.diagnostics?.length ? (
        <ul class="cypher-wrong">
          {graphs.diagnostics.map((diagnostic) => (
            <li key={JSON.stringify(diagnostic)}>
              {diagnostic.line ? `Line ${diagnostic.line}: ` : ""}
              {diagnostic.message}
            </li>
          ))}
        </ul>
      ) : null}
    </details>
  );
}
