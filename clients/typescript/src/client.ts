import { EventSourceParserStream } from "eventsource-parser/stream";
import { MeshError, readProblem } from "./errors.js";
import type { components, operations } from "./schema.js";

type Schemas = components["schemas"];
type Body<Operation extends keyof operations> = operations[Operation] extends {
  requestBody?: { content: { "application/json": infer T } };
}
  ? T
  : never;
type Query<Operation extends keyof operations> = NonNullable<operations[Operation]["parameters"]["query"]>;

export type Run = Schemas["Run"];
export type Check = Schemas["Check"];
export type Triple = Schemas["Triple"];
export type ScoredTriple = Schemas["ScoredTriple"];
export type Snapshot = Schemas["SnapshotInfo"];
export type Feedback = Schemas["Feedback"];
export type Method = Schemas["Method"];
export type LoadProgress = Schemas["LoadProgress"];
export type LoadResult = Schemas["LoadKnowledgeGraphResponse"];
/** An event of a question: exactly one of its fields is set; the last event has the run. */
export type AskEvent = Schemas["AskStreamResponse"];
/** An event of a check; the last one has the check. */
export type CheckEvent = Schemas["CheckStreamResponse"];
export type AskOptions = Omit<Schemas["AskRequest"], "question" | "kg"> & CallOptions;
export type CheckOptions = Omit<Schemas["CheckRequest"], "text" | "kg"> & CallOptions;
/** The content of a file. A stream can be sent by Node only. */
export type FileContent = string | Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

export interface CallOptions {
  /** A knowledge graph, "wikidata", or a snapshot of it, "wikidata@3". */
  kg?: string;
  /** Cancels the call. */
  signal?: AbortSignal;
}

export interface ClientOptions {
  /** Address of the mesh's HTTP interface. */
  baseUrl?: string;
  /** The token of a mesh that authenticates callers. It is sent over HTTPS, or to this machine. */
  token?: string;
  /** Sends the token in plaintext to other machines too. */
  insecureToken?: boolean;
  /** The knowledge graph of calls that name none; without it, the only one that exists. */
  kg?: string;
  /** Maximum number of attempts of a call; 1 disables retries. */
  attempts?: number;
  /** Milliseconds before the first retry; doubled for each further one, up to 5 seconds. */
  backoff?: number;
  /** The function that sends requests, instead of the global fetch. */
  fetch?: typeof fetch;
}

/** Longest wait that the client makes because a mesh asks for it, in seconds. */
const maxWait = 30;

/**
 * A client of a mesh, by its REST API. Results are the messages of the contract as JSON: fields that
 * are not set are undefined, 64-bit integers are strings. Failed calls throw MeshError; calls are
 * retried if the mesh is unavailable, or refuses them and says when to retry.
 */
export class Client {
  readonly #options: Required<Omit<ClientOptions, "token" | "kg">>;
  readonly #token: string | undefined;
  #kg: string | undefined;

  constructor(options: ClientOptions = {}) {
    this.#options = {
      baseUrl: (options.baseUrl ?? "http://127.0.0.1:9080").replace(/\/+$/, ""),
      insecureToken: options.insecureToken ?? false,
      attempts: options.attempts ?? 4,
      backoff: options.backoff ?? 100,
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    };
    this.#kg = options.kg;
    this.#token = options.token;
    const url = new URL(this.#options.baseUrl);
    if (options.token && url.protocol !== "https:" && !isLoopback(url.hostname) && !this.#options.insecureToken) {
      throw new TypeError(`token for ${url.host}: the connection is not encrypted; use https or insecureToken`);
    }
  }

  /** Answers a question. */
  async ask(question: string, options: AskOptions = {}): Promise<Run> {
    const { kg, signal, ...rest } = options;
    const body: Schemas["AskRequest"] = { question, kg: await this.#ref(kg), ...rest };
    return required((await this.#call<Schemas["AskResponse"]>("POST", "/ask", { body, signal })).run);
  }

  /** Answers a question and yields an event per stage and piece of text. Ending the loop cancels it. */
  async *askStream(question: string, options: AskOptions = {}): AsyncGenerator<AskEvent, void, undefined> {
    const { kg, signal, ...rest } = options;
    const body: Schemas["AskRequest"] = { question, kg: await this.#ref(kg), ...rest };
    yield* this.#stream<AskEvent>("/ask:stream", { body, signal });
  }

  /** Checks a text claim by claim. */
  async check(text: string, options: CheckOptions = {}): Promise<Check> {
    const { kg, signal, ...rest } = options;
    const body: Schemas["CheckRequest"] = { text, kg: await this.#ref(kg), ...rest };
    return required((await this.#call<Schemas["CheckResponse"]>("POST", "/check", { body, signal })).check);
  }

  /** Checks a text and yields its claims as they are judged. */
  async *checkStream(text: string, options: CheckOptions = {}): AsyncGenerator<CheckEvent, void, undefined> {
    const { kg, signal, ...rest } = options;
    const body: Schemas["CheckRequest"] = { text, kg: await this.#ref(kg), ...rest };
    yield* this.#stream<CheckEvent>("/check:stream", { body, signal });
  }

  /** Returns the triples nearest in meaning to a text, best first. */
  async search(
    query: string,
    options: { limit?: number; filter?: Schemas["FilterInput"] } & CallOptions = {},
  ): Promise<ScoredTriple[]> {
    const { kg, ...rest } = options;
    const response = await this.#onKg<Schemas["SearchTriplesResponse"]>("search", kg, { queries: [query], ...rest });
    return response.results?.[0]?.triples ?? [];
  }

  /** Returns the evidence for a question, without a language model. */
  ground(
    question: string,
    options: { options?: Schemas["GroundingOptionsInput"] } & CallOptions = {},
  ): Promise<Schemas["GroundGraphResponse"]> {
    const { kg, ...rest } = options;
    return this.#onKg("ground", kg, { question, ...rest });
  }

  /** Returns triples around an entity, by exact name or id, and all its relations. */
  neighbours(
    entity: string,
    options: Omit<Body<"ListNeighbours">, "kg" | "entity"> & CallOptions = {},
  ): Promise<Schemas["ListNeighboursResponse"]> {
    const { kg, ...rest } = options;
    return this.#onKg("neighbours", kg, { entity, ...rest });
  }

  /** Returns the entities that a text may mean, most likely first. */
  async link(text: string, options: { limit?: number } & CallOptions = {}): Promise<Schemas["EntityLink"][]> {
    const { kg, ...rest } = options;
    return (await this.#onKg<Schemas["LinkEntitiesResponse"]>("link", kg, { text, ...rest })).links ?? [];
  }

  /** Looks entities up by exact names or ids; those that do not exist are absent. */
  async entities(entities: string[], options: CallOptions = {}): Promise<Record<string, Schemas["Entity"]>> {
    const { kg, ...rest } = options;
    const response = await this.#onKg<Schemas["BatchGetEntitiesResponse"]>("entities", kg, { entities, ...rest });
    return response.entities ?? {};
  }

  /** Returns an answered question with all its graphs. */
  async run(id: string, options: CallOptions = {}): Promise<Run> {
    const path = `/runs/${encodeURIComponent(id)}`;
    return required((await this.#call<Schemas["GetRunResponse"]>("GET", path, options)).run);
  }

  /** Yields answered questions, newest first, and fetches further pages on demand. */
  async *runs(query: Query<"ListRuns"> = {}, options: CallOptions = {}): AsyncGenerator<Run, void, undefined> {
    const pages = this.#pages<Schemas["ListRunsResponse"]>("/runs", query, options);
    for await (const page of pages) {
      yield* page.runs ?? [];
    }
  }

  /** Marks answers and triples of a run as right, wrong or missing. */
  async createFeedback(runId: string, marks: Schemas["MarkInput"][], options: CallOptions = {}): Promise<Feedback[]> {
    const body = { runId, marks };
    const response = await this.#call<Schemas["CreateFeedbackResponse"]>("POST", "/feedback", { body, ...options });
    return response.feedback ?? [];
  }

  /** Yields stored feedback, that on the newest run first. */
  async *feedback(
    query: Query<"ListFeedback"> = {},
    options: CallOptions = {},
  ): AsyncGenerator<Feedback, void, undefined> {
    const pages = this.#pages<Schemas["ListFeedbackResponse"]>("/feedback", query, options);
    for await (const page of pages) {
      yield* page.feedback ?? [];
    }
  }

  /** Removes a mark. */
  async deleteFeedback(id: string, options: CallOptions = {}): Promise<void> {
    await this.#call("DELETE", `/feedback/${encodeURIComponent(id)}`, options);
  }

  /** Returns the methods of answering. */
  async methods(options: CallOptions = {}): Promise<Method[]> {
    return (await this.#call<Schemas["ListMethodsResponse"]>("GET", "/methods", options)).methods ?? [];
  }

  /** Returns the snapshots of all knowledge graphs, by name, newest first. */
  async kgs(options: CallOptions = {}): Promise<Snapshot[]> {
    const all: Snapshot[] = [];
    for await (const page of this.#pages<Schemas["ListKnowledgeGraphsResponse"]>("/kgs", {}, options)) {
      all.push(...(page.snapshots ?? []));
    }
    return all;
  }

  /**
   * Builds a snapshot of a knowledge graph from a file and activates it. The name determines the
   * format. A load is atomic, and is not retried.
   */
  async loadKg(
    name: string,
    file: { name: string; content: FileContent },
    options: Omit<Query<"LoadKnowledgeGraphStream">, "file"> & {
      signal?: AbortSignal;
      onProgress?: (progress: LoadProgress) => void;
    } = {},
  ): Promise<LoadResult> {
    const { signal, onProgress, ...query } = options;
    const events = this.#stream<Schemas["LoadKnowledgeGraphStreamResponse"]>(
      `/kgs/${encodeURIComponent(name)}:load`,
      { content: file.content, query: { file: file.name, ...query }, signal },
      1,
    );
    for await (const event of events) {
      if (event.result) {
        return event.result;
      }
      if (event.progress) {
        onProgress?.(event.progress);
      }
    }
    throw new MeshError(200, { code: "UNAVAILABLE", detail: "the stream ended before the load did" });
  }

  /** Activates a snapshot, "wikidata@3". */
  async activateKg(kg: string, options: { signal?: AbortSignal } = {}): Promise<Snapshot> {
    return required((await this.#onKg<Schemas["ActivateSnapshotResponse"]>("activate", kg, options, true)).snapshot);
  }

  /** Activates the snapshot before the active one. It is not idempotent, so it is not retried. */
  async rollbackKg(name: string, options: { signal?: AbortSignal } = {}): Promise<Snapshot> {
    const path = `/kgs/${encodeURIComponent(name)}:rollback`;
    const call = { body: {}, ...options };
    return required((await this.#call<Schemas["RollbackKnowledgeGraphResponse"]>("POST", path, call, 1)).snapshot);
  }

  /** Removes a knowledge graph, "wikidata", or an inactive snapshot of it, "wikidata@2". */
  async dropKg(kg: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    const { name, snapshot } = parseKg(kg);
    await this.#call("DELETE", `/kgs/${encodeURIComponent(name)}`, { query: { snapshot }, ...options });
  }

  async #onKg<T>(
    action: string,
    kg: string | undefined,
    rest: { signal?: AbortSignal; [field: string]: unknown },
    flat = false,
  ): Promise<T> {
    const { signal, ...fields } = rest;
    const { name, snapshot } = await this.#ref(kg);
    const body = snapshot === undefined ? fields : flat ? { ...fields, snapshot } : { ...fields, kg: { snapshot } };
    return this.#call<T>("POST", `/kgs/${encodeURIComponent(name)}:${action}`, { body, signal });
  }

  async #ref(kg?: string): Promise<{ name: string; snapshot?: string }> {
    const chosen = kg ?? this.#kg;
    if (chosen !== undefined) {
      return parseKg(chosen);
    }
    const names = [...new Set((await this.kgs()).filter((s) => s.active).map((s) => s.kg?.name ?? ""))];
    if (names.length !== 1 || names[0] === undefined) {
      throw new TypeError(`no knowledge graph given and ${names.join(", ") || "none"} exist; pass kg`);
    }
    this.#kg = names[0];
    return { name: names[0] };
  }

  async *#pages<T extends { nextPageToken?: string }>(
    path: string,
    query: object,
    { signal }: CallOptions,
  ): AsyncGenerator<T, void, undefined> {
    let pageToken: string | undefined;
    do {
      const page: T = await this.#call<T>("GET", path, { query: pageToken ? { ...query, pageToken } : query, signal });
      yield page;
      pageToken = page.nextPageToken;
    } while (pageToken);
  }

  async #call<T>(method: string, path: string, call: Call, attempts?: number): Promise<T> {
    const response = await this.#send(method, path, call, "application/json", attempts);
    return (await response.json()) as T;
  }

  /** Yields the messages of server-sent events; an error event is thrown. */
  async *#stream<T>(path: string, call: Call, attempts?: number): AsyncGenerator<T, void, undefined> {
    const stop = new AbortController();
    const signal = call.signal ? AbortSignal.any([call.signal, stop.signal]) : stop.signal;
    try {
      const response = await this.#send("POST", path, { ...call, signal }, "text/event-stream", attempts);
      if (!response.body) {
        return;
      }
      const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      const reader = events.getReader();
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        const data: unknown = JSON.parse(next.value.data);
        if (next.value.event === "error") {
          throw new MeshError(response.status, data as Partial<Schemas["Problem"]>);
        }
        yield data as T;
      }
    } catch (error) {
      throw error instanceof TypeError ? makeNetworkError(error, this.#options.baseUrl) : error;
    } finally {
      stop.abort();
    }
  }

  async #send(
    method: string,
    path: string,
    { body, content, query, signal }: Call,
    accept: string,
    attempts = this.#options.attempts,
  ): Promise<Response> {
    const url = new URL(`${this.#options.baseUrl}/api/v1${path}`);
    for (const [key, value] of Object.entries(query ?? {})) {
      if (value !== undefined) {
        url.searchParams.set(key, String(value));
      }
    }
    const headers: Record<string, string> = { accept };
    if (this.#token) {
      headers["authorization"] = `Bearer ${this.#token}`;
    }
    if (body || content !== undefined) {
      headers["content-type"] = body ? "application/json" : "application/octet-stream";
    }
    const init: RequestInit & { duplex?: "half" } = {
      method,
      headers,
      credentials: "omit",
      body: body ? JSON.stringify(body) : (content ?? null),
      signal: signal ?? null,
    };
    if (content instanceof ReadableStream) {
      init.duplex = "half";
    }
    for (let attempt = 1; ; attempt++) {
      let error: MeshError;
      try {
        const response = await this.#options.fetch(url, init);
        if (response.ok) {
          return response;
        }
        error = await readProblem(response);
      } catch (cause) {
        if (signal?.aborted || !(cause instanceof TypeError)) {
          throw cause;
        }
        error = makeNetworkError(cause, this.#options.baseUrl);
      }
      const wait = this.#backoff(error, attempt);
      if (attempt >= attempts || wait === undefined) {
        throw error;
      }
      await sleep(wait, signal);
    }
  }

  /** Returns the milliseconds before the next attempt; undefined if there is none. */
  #backoff(error: MeshError, attempt: number): number | undefined {
    const retryable = error.code === "UNAVAILABLE" || error.retryAfter !== undefined;
    if (!retryable || (error.retryAfter ?? 0) > maxWait) {
      return undefined;
    }
    if (error.retryAfter !== undefined) {
      return error.retryAfter * 1000 * (1 + Math.random() / 10);
    }
    return Math.min(5000, this.#options.backoff * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
  }
}

interface Call {
  body?: object;
  content?: FileContent;
  query?: object;
  signal?: AbortSignal | undefined;
}

function makeNetworkError(cause: TypeError, baseUrl: string): MeshError {
  const detail = `call ${baseUrl}: ${cause.message}; check the address and that the mesh runs: triplemesh up`;
  return new MeshError(0, { code: "UNAVAILABLE", detail }, cause);
}

function parseKg(kg: string): { name: string; snapshot?: string } {
  const [, name, snapshot] = /^([^@]+)(?:@(\d+))?$/.exec(kg) ?? [];
  if (name === undefined) {
    throw new TypeError(`kg ${JSON.stringify(kg)} is malformed; write NAME or NAME@NUMBER`);
  }
  return snapshot === undefined ? { name } : { name, snapshot };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}

function required<T>(value: T | undefined): T {
  if (value === undefined) {
    throw new MeshError(200, { code: "INTERNAL", detail: "the response lacks its result; update the mesh" });
  }
  return value;
}

function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
