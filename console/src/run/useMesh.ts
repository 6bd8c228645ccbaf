import { useEffect, useState } from "preact/hooks";
import type { Mesh, Method, SnapshotInfo } from "../api/messages";
import { useApi, useServices } from "../app/services";

/** What a page that asks needs to know of the mesh. */
export type MeshFacts = {
  methods: Method[];
  /** The names of the knowledge graphs that questions can read. */
  kgs: string[];
  /** Where traces can be looked at, with "{trace_id}" in it. */
  traceUrl: string | undefined;
  /** Why the methods are not known. */
  error: unknown;
  /** Whether the methods are known, or why they are not. */
  known: boolean;
  /** Whether the knowledge graphs are known, or cannot be. */
  kgsKnown: boolean;
};

/** Asks the mesh which methods and knowledge graphs it has, and again with every new token. */
export function useMesh(): MeshFacts {
  const api = useApi();
  const { token } = useServices();
  const said = token.value.value;
  const [facts, setFacts] = useState<MeshFacts>({
    methods: [],
    kgs: [],
    traceUrl: undefined,
    error: undefined,
    known: false,
    kgsKnown: false,
  });
  useEffect(() => {
    const leaving = new AbortController();
    const options = { signal: leaving.signal };
    const learn = (part: Partial<MeshFacts>) => {
      if (!leaving.signal.aborted) {
        setFacts((before) => ({ ...before, ...part }));
      }
    };
    api.methods(options).then(
      ({ methods = [] }) => learn({ methods, error: undefined, known: true }),
      (error: unknown) => learn({ error, known: true }),
    );
    // A mesh without a retriever, or a token that may not read knowledge graphs,
    // still answers by methods that need none.
    api.kgs(undefined, options).then(
      ({ snapshots = [] }) => learn({ kgs: activeKgs(snapshots), kgsKnown: true }),
      () => learn({ kgsKnown: true }),
    );
    api.mesh(options).then(
      (mesh: Mesh) => learn({ traceUrl: mesh.traceUrl }),
      () => undefined,
    );
    return () => leaving.abort();
  }, [api, said]);
  return facts;
}

/** The knowledge graphs that a question reads: those chosen, else the only one, as everywhere. */
export function readKgs(mesh: Pick<MeshFacts, "kgs">, chosen: string[]): string[] {
  return chosen.length > 0 || mesh.kgs.length !== 1 ? chosen : mesh.kgs;
}

/**
 * Whether a question can be asked by some methods already. Where none of several
 * knowledge graphs is chosen, only methods that read none can.
 */
export function canAsk(mesh: MeshFacts, kgs: string[], methods: string[]): boolean {
  const readsNone = (name: string) => mesh.methods.some((m) => m.name === name && !m.needsKg);
  const chosen = kgs.length > 0 || (mesh.kgsKnown && mesh.kgs.length < 2);
  return mesh.known && (chosen || methods.every(readsNone));
}

/** The names of knowledge graphs with a snapshot that questions read, each once. */
export function activeKgs(snapshots: SnapshotInfo[]): string[] {
  const active = snapshots
    .filter((snapshot) => snapshot.active)
    .map((snapshot) => snapshot.kg?.name ?? "");
  return [...new Set(active)].filter(Boolean);
}
