import { Problem } from "../api/problem";
import { Icon } from "./Icon";
import "./error.css";

/** What went wrong, in the mesh's own words: what, why, which fields, what to do next. */
export function ErrorBox({
  error,
  doing,
  retry,
}: {
  error: unknown;
  doing: string;
  retry?: () => void;
}) {
  const document = error instanceof Problem ? error.document : {};
  const detail = error instanceof Error ? error.message : String(error);
  return (
    <div class="error-box" role="alert">
      <Icon name="warning" size={22} />
      <div>
        <p class="error-title">{`${doing} failed${document.code ? `: ${document.code}` : ""}`}</p>
        <p class="error-detail">{detail}</p>
        {document.violations?.length ? (
          <ul>
            {document.violations.map((violation) => (
              <li key={`${violation.field} ${violation.description}`}>
                {violation.field ? <code>{violation.field}</code> : null} {violation.description}
              </li>
            ))}
          </ul>
        ) : null}
        {document.retryAfter ? <p>{`Try again in ${document.retryAfter} s.`}</p> : null}
        {document.requestId ? (
          <p class="error-id">
            Request <code>{document.requestId}</code>
          </p>
        ) : null}
      </div>
      {retry ? (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      ) : null}
    </div>
  );
}
