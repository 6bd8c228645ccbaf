import type { SnapshotInfo } from "../../api/messages";

/** A knowledge graph with its snapshots, newest first. */
export type Kg = { name: string; snapshots: SnapshotInfo[]; active: SnapshotInfo | undefined };

/** Puts snapshots under their knowledge graphs, in the order they come in. */
export function kgsOf(snapshots: SnapshotInfo[] | undefined): Kg[] {
  const kgs = new Map<string, Kg>();
  for (const snapshot of snapshots ?? []) {
    const name = snapshot.kg?.name ?? "";
    const kg = kgs.get(name) ?? { name, snapshots: [], active: undefined };
    kg.snapshots.push(snapshot);
    if (snapshot.active) {
      kg.active = snapshot;
    }
    kgs.set(name, kg);
  }
  return [...kgs.values()];
}

/** The names of knowledge graphs that questions can be asked of: those with an active snapshot. */
export function askable(snapshots: SnapshotInfo[] | undefined): string[] {
  return kgsOf(snapshots)
    .filter((kg) => kg.active)
    .map((kg) => kg.name);
}

/** The number of a snapshot, as it is written behind its knowledge graph's name. */
export function numberOf(snapshot: SnapshotInfo): string {
  return snapshot.kg?.snapshot ?? "0";
}
