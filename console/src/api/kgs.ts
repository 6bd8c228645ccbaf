import { base64 } from "./base64";
import { type CallOptions, callEvents, callJson, type Transport } from "./http";
import type {
  ActivateRankerResponse,
  ActivateResponse,
  Columns,
  CompactResponse,
  DropResponse,
  Format,
  GroundGraphRequest,
  GroundGraphResponse,
  LinkEntitiesResponse,
  ListKgsResponse,
  ListRankersResponse,
  LoadKnowledgeGraphStreamResponse,
  LoadMode,
  NeighboursRequest,
  NeighboursResponse,
  ProposeColumnsRequest,
  ProposeColumnsResponse,
  RollbackRankerResponse,
  RollbackResponse,
  SearchRelationsResponse,
  SearchTriplesRequest,
  SearchTriplesResponse,
  ShortestPathsResponse,
  SuggestPathsResponse,
  Vectors,
  VerifyResponse,
} from "./messages";
import { query } from "./query";

/** How to load a file. */
export type LoadOptions = {
  format?: Format;
  mode?: LoadMode;
  vectors?: Vectors;
  /** Whether to keep where each triple comes from. */
  provenance?: boolean;
  /** How to read a table. */
  columns?: Columns | undefined;
};

/** What is read of, and done to, knowledge graphs; kg is a name. */
export type KgsApi = {
  /** Lists all knowledge graphs' snapshots, or one's. */
  kgs(kg?: string, options?: CallOptions): Promise<ListKgsResponse>;
  activate(kg: string, snapshot: string, options?: CallOptions): Promise<ActivateResponse>;
  rollback(kg: string, options?: CallOptions): Promise<RollbackResponse>;
  verify(kg: string, snapshot?: string, options?: CallOptions): Promise<VerifyResponse>;
  compact(kg: string, snapshot?: string, options?: CallOptions): Promise<CompactResponse>;
  /** Removes one snapshot; a knowledge graph whole where none is named. */
  drop(kg: string, snapshot?: string, options?: CallOptions): Promise<DropResponse>;
  /** Lists the learnt rankings of a knowledge graph's paths. */
  rankers(kg: string, options?: CallOptions): Promise<ListRankersResponse>;
  activateRanker(
    kg: string,
    number: string,
    options?: CallOptions,
  ): Promise<ActivateRankerResponse>;
  rollbackRanker(kg: string, options?: CallOptions): Promise<RollbackRankerResponse>;
  deleteRanker(kg: string, number: string, options?: CallOptions): Promise<unknown>;
  /** Proposes how to load a table, of which head is the beginning. */
  proposeColumns(
    request: Omit<ProposeColumnsRequest, "head"> & { head: Blob },
    options?: CallOptions,
  ): Promise<ProposeColumnsResponse>;
  /** Loads a file; the last event is the result. */
  load(
    kg: string,
    file: File,
    how?: LoadOptions,
    options?: CallOptions,
  ): AsyncGenerator<LoadKnowledgeGraphStreamResponse>;
  /** Grounds a pseudo-graph in a snapshot; "" takes the active one. No model is called. */
  ground(
    kg: string,
    request: Omit<GroundGraphRequest, "kg">,
    options?: CallOptions & AtSnapshot,
  ): Promise<GroundGraphResponse>;
  search(
    kg: string,
    request: Omit<SearchTriplesRequest, "kg">,
    options?: CallOptions & AtSnapshot,
  ): Promise<SearchTriplesResponse>;
  neighbours(
    kg: string,
    request: Omit<NeighboursRequest, "kg">,
    options?: CallOptions & AtSnapshot,
  ): Promise<NeighboursResponse>;
  link(
    kg: string,
    request: { text: string; limit?: number },
    options?: CallOptions,
  ): Promise<LinkEntitiesResponse>;
  relations(
    kg: string,
    request: { queries: string[]; limit?: number },
    options?: CallOptions,
  ): Promise<SearchRelationsResponse>;
  suggest(
    kg: string,
    request: { question: string; topicEntities: string[]; maxHops?: number; limit?: number },
    options?: CallOptions,
  ): Promise<SuggestPathsResponse>;
  shortest(
    kg: string,
    request: { from: string[]; to: string[]; maxHops?: number; limit?: number },
    options?: CallOptions,
  ): Promise<ShortestPathsResponse>;
};

/** Which snapshot to read; unset takes the active one. */
export type AtSnapshot = { snapshot?: string };

/** The part of the client that reads and changes knowledge graphs. */
export function createKgs(transport: Transport): KgsApi {
  const at = (kg: string) => `kgs/${encodeURIComponent(kg)}`;
  const post = <T>(
    kg: string,
    verb: string,
    message: object,
    { snapshot, ...options }: CallOptions & AtSnapshot = {},
  ) => {
    // The name stands in the path; what else there is to say of it in the body.
    const whole = snapshot ? { ...message, kg: { snapshot } } : message;
    return callJson<T>(transport, `${at(kg)}:${verb}`, whole, options);
  };
  return {
    kgs: (kg, options) => callJson(transport, kg ? at(kg) : "kgs", undefined, options),
    activate: (kg, snapshot, options) => post(kg, "activate", { snapshot }, options),
    rollback: (kg, options) => post(kg, "rollback", {}, options),
    verify: (kg, snapshot, options) => post(kg, "verify", snapshot ? { snapshot } : {}, options),
    compact: (kg, snapshot, options) => post(kg, "compact", snapshot ? { snapshot } : {}, options),
    drop: (kg, snapshot, options) =>
      callJson(transport, `${at(kg)}${query({ snapshot })}`, undefined, {
        method: "DELETE",
        ...options,
      }),
    rankers: (kg, options) => callJson(transport, `${at(kg)}/rankers`, undefined, options),
    activateRanker: (kg, number, options) =>
      callJson(transport, `${at(kg)}/rankers/${encodeURIComponent(number)}:activate`, {}, options),
    rollbackRanker: (kg, options) => callJson(transport, `${at(kg)}/rankers:rollback`, {}, options),
    deleteRanker: (kg, number, options) =>
      callJson(transport, `${at(kg)}/rankers/${encodeURIComponent(number)}`, undefined, {
        method: "DELETE",
        ...options,
      }),
    proposeColumns: async ({ head, ...request }, options) =>
      callJson(transport, "kgs:columns", { ...request, head: await base64(head) }, options),
    load: (kg, file, { provenance, columns, ...how } = {}, options) =>
      callEvents(
        transport,
        `${at(kg)}:load${query({
          file: file.name,
          ...how,
          provenance: provenance ? "true" : "",
          "columns.subject": columns?.subject,
          "columns.rows": columns?.rows,
          "columns.name": columns?.name,
          "columns.furtherNames": columns?.furtherNames ?? [],
          "columns.separator": columns?.separator,
          "columns.types": columns?.types?.map(({ heading, type }) => `${heading}=${type}`) ?? [],
        })}`,
        {
          body: file,
          type: "application/octet-stream",
          ...options,
        },
      ),
    ground: (kg, request, options) => post(kg, "ground", request, options),
    search: (kg, request, options) => post(kg, "search", request, options),
    neighbours: (kg, request, options) => post(kg, "neighbours", request, options),
    link: (kg, request, options) => post(kg, "link", request, options),
    relations: (kg, request, options) => post(kg, "relations", request, options),
    suggest: (kg, request, options) => post(kg, "suggest", request, options),
    shortest: (kg, request, options) => post(kg, "shortest", request, options),
  };
}
