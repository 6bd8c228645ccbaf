/** What is wrong with one field of a request. */
export type Violation = { field?: string; description?: string };

/** An error as the mesh tells it: application/problem+json (RFC 9457). */
export type ProblemDocument = {
  type?: string;
  title?: string;
  status?: number;
  detail?: string;
  /** The gRPC code: "NOT_FOUND". */
  code?: string;
  /** The reason of the contract's ErrorReason: "KG_NOT_FOUND". */
  reason?: string;
  violations?: Violation[];
  /** Seconds after which it may go well. */
  retryAfter?: number | string;
  requestId?: string;
};

/** A call that the mesh answered with an error, or did not answer. */
export class Problem extends Error {
  readonly document: ProblemDocument;

  constructor(document: ProblemDocument) {
    super(document.detail || document.title || "The mesh gave no reason.");
    this.name = "Problem";
    this.document = document;
  }

  /** Whether a token is missing, wrong or out of date. */
  get unauthenticated(): boolean {
    return this.document.status === 401 || this.document.code === "UNAUTHENTICATED";
  }
}

/** The problem that a response tells of; one made up of its status where it tells of none. */
export async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text().catch(() => "");
  return new Problem({
    title: response.statusText || `HTTP ${response.status}`,
    detail: `The mesh answered with HTTP ${response.status}.`,
    ...readProblem(text),
    status: response.status,
  });
}

/** Reads a problem document; empty where the text is none. */
export function readProblem(text: string): ProblemDocument {
  try {
    const document: unknown = JSON.parse(text);
    return document !== null && typeof document === "object" && !Array.isArray(document)
      ? (document as ProblemDocument)
      : {};
  } catch {
    return {};
  }
}
