import { type CallOptions, call, callEvents, callJson, json, type Transport } from "./http";
import { createKgs, type KgsApi } from "./kgs";
import type {
  AskRequest,
  AskStreamResponse,
  CheckRequest,
  CheckStreamResponse,
  CreateFeedbackRequest,
  CreateFeedbackResponse,
  GetQuotaResponse,
  GetRunResponse,
  ListFeedbackResponse,
  ListMethodsResponse,
  ListRunsResponse,
  Mesh,
  Report,
} from "./messages";
import { query } from "./query";

/** Which runs to list. */
export type RunFilter = {
  pageSize?: number;
  pageToken?: string;
  method?: string;
  kgName?: string;
  query?: string;
};

/** Which feedback to list. */
export type FeedbackFilter = { pageSize?: number; runId?: string; own?: boolean };

/** The mesh, by REST. Every call may be aborted; all fail with a Problem. */
export type Api = KgsApi & {
  methods(options?: CallOptions): Promise<ListMethodsResponse>;
  mesh(options?: CallOptions): Promise<Mesh>;
  quota(options?: CallOptions): Promise<GetQuotaResponse>;
  /** Asks a question; the last event is the run. */
  ask(request: AskRequest, options?: CallOptions): AsyncGenerator<AskStreamResponse>;
  /** Checks a text; the last event is the checked text. */
  check(request: CheckRequest, options?: CallOptions): AsyncGenerator<CheckStreamResponse>;
  /** Lists answered questions, newest first. */
  runs(filter?: RunFilter, options?: CallOptions): Promise<ListRunsResponse>;
  run(id: string, options?: CallOptions): Promise<GetRunResponse>;
  /** Marks answers and triples of a run right, wrong or missing. */
  createFeedback(
    request: CreateFeedbackRequest,
    options?: CallOptions,
  ): Promise<CreateFeedbackResponse>;
  feedback(filter?: FeedbackFilter, options?: CallOptions): Promise<ListFeedbackResponse>;
  deleteFeedback(id: string, options?: CallOptions): Promise<unknown>;
  reports(options?: CallOptions): Promise<{ reports?: Report[] }>;
  /** Reads the page of a report, as HTML that is only for a sandbox. */
  report(name: string, options?: CallOptions): Promise<string>;
};

/** A client of the mesh that serves this page. */
export function createApi(transport: Transport): Api {
  return {
    ...createKgs(transport),
    methods: (options) => callJson(transport, "methods", undefined, options),
    mesh: (options) => callJson(transport, "mesh", undefined, options),
    quota: (options) => callJson(transport, "quota", undefined, options),
    ask: (request, options) =>
      callEvents(transport, "ask:stream", { ...json(request), ...options }),
    check: (request, options) =>
      callEvents(transport, "check:stream", { ...json(request), ...options }),
    runs: (filter = {}, options) => callJson(transport, `runs${query(filter)}`, undefined, options),
    run: (id, options) => callJson(transport, `runs/${encodeURIComponent(id)}`, undefined, options),
    createFeedback: (request, options) => callJson(transport, "feedback", request, options),
    feedback: (filter = {}, options) =>
      callJson(transport, `feedback${query(filter)}`, undefined, options),
    deleteFeedback: (id, options) =>
      callJson(transport, `feedback/${encodeURIComponent(id)}`, undefined, {
        ...options,
        method: "DELETE",
      }),
    reports: (options) => callJson(transport, "reports", undefined, options),
    report: async (name, options) => {
      // Beside the API, not below it: people open it there too.
      const path = `../../reports/${encodeURIComponent(name)}.html`;
      return (await call(transport, path, { accept: "text/html", ...options })).text();
    },
  };
}
