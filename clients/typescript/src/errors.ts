import type { components } from "./schema.js";

type Problem = Partial<components["schemas"]["Problem"]>;

/** A field of a request that breaks a rule. */
export interface Violation {
  field: string;
  description: string;
}

/** A call failed. Its message is for people; match on `code` and `reason`. */
export class MeshError extends Error {
  override readonly name = "MeshError";
  /** HTTP status; 0 if there was no response, 200 if a stream failed after it started. */
  readonly status: number;
  /** gRPC status code, such as NOT_FOUND. */
  readonly code: string;
  /** Distinguishes errors of one code, such as TOKEN_EXPIRED; empty if the error is not of a mesh. */
  readonly reason: string;
  /** What to do, if the mesh or the client knows. */
  readonly advice: string;
  /** Seconds after which the mesh asks to retry. */
  readonly retryAfter: number | undefined;
  /** The id of the request in the mesh's logs. */
  readonly requestId: string;
  readonly violations: readonly Violation[];

  constructor(status: number, problem: Problem, cause?: unknown) {
    const code = problem.code ?? "UNKNOWN";
    const detail = problem.detail ?? problem.title ?? "no details";
    super(`${code}: ${detail}`, cause === undefined ? undefined : { cause });
    const mend = detail.lastIndexOf("; ");
    this.status = status;
    this.code = code;
    this.reason = problem.reason ?? "";
    this.advice = mend < 0 ? "" : detail.slice(mend + 2);
    this.retryAfter = problem.retryAfter;
    this.requestId = problem.requestId ?? "";
    this.violations = (problem.violations ?? []).map((v) => ({
      field: v.field ?? "",
      description: v.description ?? "",
    }));
  }
}

/** Reads the problem of a response that is not a success. */
export async function readProblem(response: Response): Promise<MeshError> {
  const text = await response.text();
  let problem: Problem = {};
  if (response.headers.get("content-type")?.startsWith("application/problem+json")) {
    try {
      problem = JSON.parse(text) as Problem;
    } catch {
      // Cut off: the status remains.
    }
  }
  const fallback = {
    code: codes[response.status] ?? "UNKNOWN",
    detail: `HTTP ${response.status} ${response.statusText}`,
    requestId: response.headers.get("x-request-id") ?? "",
  };
  return new MeshError(response.status, { ...fallback, ...problem });
}

/** The codes of responses that are not of a mesh but of a proxy before it. */
const codes: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};
