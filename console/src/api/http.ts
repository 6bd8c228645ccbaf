import { Problem, problemOf, readProblem } from "./problem";
import { readEvents } from "./sse";

/** What calls are made with. */
export type Transport = {
  fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** The reader's token; empty where there is none. */
  token: () => string;
};

/** What every call may be given. */
export type CallOptions = { signal?: AbortSignal };

/** One call: its path below the API's, with what it sends. */
export type Call = CallOptions & {
  method?: string;
  body?: BodyInit;
  type?: string;
  accept?: string;
};

/** Calls the API. What it answers with an error, and what it does not answer, is thrown as a Problem. */
export async function call(
  transport: Transport,
  path: string,
  options: Call = {},
): Promise<Response> {
  const headers = new Headers({ Accept: options.accept ?? "application/json" });
  if (options.type) {
    headers.set("Content-Type", options.type);
  }
  const token = transport.token();
  if (token) {
    headers.set("Authorization", `Bearer ${token}`);
  }
  let response: Response;
  try {
    response = await transport.fetch(`api/v1/${path}`, {
      method: options.method ?? "GET",
      headers,
      body: options.body ?? null,
      signal: options.signal ?? null,
      // There are no cookies to send, and none are to be taken.
      credentials: "omit",
      cache: "no-store",
    });
  } catch (error) {
    throw options.signal?.aborted ? error : unreachable(error);
  }
  if (!response.ok) {
    throw await problemOf(response);
  }
  return response;
}

/** Calls the API with a message, and reads the one it answers with. */
export async function callJson<T>(
  transport: Transport,
  path: string,
  message?: unknown,
  options: Call = {},
): Promise<T> {
  const sent = message === undefined ? {} : { method: "POST", ...json(message) };
  const response = await call(transport, path, { ...sent, ...options });
  return (await response.json()) as T;
}

/**
 * Calls the API and reads the events of its answer. Each message's field is
 * named by the event: {stageStarted: …}. An "error" event is thrown.
 */
export async function* callEvents<T>(
  transport: Transport,
  path: string,
  options: Call,
): AsyncGenerator<T> {
  const response = await call(transport, path, {
    method: "POST",
    accept: "text/event-stream",
    ...options,
  });
  if (!response.body) {
    return;
  }
  try {
    for await (const { event, data } of readEvents(response.body)) {
      if (event === "error") {
        throw new Problem({
          detail: "The mesh ended the stream with an error.",
          ...readProblem(data),
        });
      }
      yield JSON.parse(data) as T;
    }
  } catch (error) {
    if (error instanceof Problem || options.signal?.aborted) {
      throw error;
    }
    throw new Problem({
      title: "The stream broke off",
      detail: `The connection to the mesh ended before the answer did (${reason(error)}).`,
      code: "UNAVAILABLE",
    });
  }
}

/** A message as the body of a call. */
export function json(message: unknown): { body: string; type: string } {
  return { body: JSON.stringify(message), type: "application/json" };
}

function unreachable(error: unknown): Problem {
  return new Problem({
    title: "The mesh does not answer",
    detail: `No connection to the mesh's HTTP port (${reason(error)}). Is it running? Start it with: triplemesh up`,
    code: "UNAVAILABLE",
  });
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
