import type { SnapshotInfo } from "../../api/messages";
import { useServices } from "../../app/services";
import { bytes, toNumber } from "../../format/quantity";
import { count, number } from "../../format/text";
import { moment } from "../../format/time";
import { type Deed, DeedButtons, DeedTable, RowHeading, useDeeds } from "./Deeds";
import { type Kg, numberOf } from "./snapshots";

/** The snapshots of a knowledge graph, and what can be done to them. */
export function SnapshotTable({ kg, onChanged }: { kg: Kg; onChanged: () => void }) {
  const { api, router } = useServices();
  const { begin, busy, state } = useDeeds(onChanged);
  const { name } = kg;
  const rollback: Deed = {
    doing: `Rolling ${name} back`,
    act: async () => `${label((await api.rollback(name)).snapshot)} is active now.`,
    ask: {
      title: `Roll ${name} back?`,
      action: "Roll back",
      text: "Questions will read the snapshot that was active before this one.",
    },
  };
  const dropAll: Deed = {
    doing: `Dropping ${name}`,
    act: async () => {
      await api.drop(name);
      router.go(["kgs"]);
      return `${name} is gone.`;
    },
    ask: {
      title: `Drop ${name} whole?`,
      action: `Drop ${name}`,
      danger: true,
      text: `All its snapshots are removed (${kg.snapshots.length}). Nothing brings them back but loading the files again.`,
    },
  };
  return (
    <div class="snapshots">
      <DeedTable
        caption={`Snapshots of ${name}, the newest first`}
        columns={["Snapshot", "Triples", "Entities", "Size", "Built", "Vectors"]}
      >
        {kg.snapshots.map((snapshot) => (
          <Row key={numberOf(snapshot)} snapshot={snapshot} busy={busy} begin={begin} />
        ))}
      </DeedTable>
      {state}
      <p class="snapshot-actions">
        <button
          type="button"
          class="button"
          disabled={busy || kg.snapshots.length < 2}
          onClick={() => begin(rollback)}
        >
          Roll back
        </button>
        <button type="button" class="button danger" disabled={busy} onClick={() => begin(dropAll)}>
          Drop {name}
        </button>
      </p>
    </div>
  );
}

function Row({
  snapshot,
  busy,
  begin,
}: {
  snapshot: SnapshotInfo;
  busy: boolean;
  begin: (deed: Deed) => void;
}) {
  const { api } = useServices();
  const name = snapshot.kg?.name ?? "";
  const n = numberOf(snapshot);
  const own = label(snapshot);
  const activate: Deed = {
    doing: `Activating ${own}`,
    act: async () => `${label((await api.activate(name, n)).snapshot)} is active now.`,
  };
  const verify: Deed = {
    doing: `Verifying ${own}`,
    act: async () =>
      `Every checksum of ${own} is right: ${bytes((await api.verify(name, n)).bytes)} were read.`,
  };
  const compact: Deed = {
    doing: `Compacting ${own}`,
    act: async () => `${label((await api.compact(name, n)).snapshot)} holds all of ${own}.`,
  };
  const drop: Deed = {
    doing: `Dropping ${own}`,
    act: async () => {
      const { dropped } = await api.drop(name, n);
      return `${count(dropped?.length ?? 0, "snapshot")} dropped.`;
    },
    ask: {
      title: `Drop ${own}?`,
      action: `Drop ${own}`,
      danger: true,
      text: "Its files are removed. Questions read another snapshot and go on.",
    },
  };
  const deeds: [string, Deed, boolean][] = [
    ["Activate", activate, !snapshot.active],
    ["Verify", verify, true],
    ["Compact", compact, Number(snapshot.base ?? 0) > 0],
    ["Drop", drop, !snapshot.active],
  ];
  return (
    <tr>
      <RowHeading
        n={n}
        active={snapshot.active}
        hint={Number(snapshot.base ?? 0) > 0 ? `a delta of ${snapshot.base}` : undefined}
      />
      <td class="figures">{number(toNumber(snapshot.triples))}</td>
      <td class="figures">{number(toNumber(snapshot.entities))}</td>
      <td class="figures">{bytes(snapshot.bytes)}</td>
      <td>{moment(snapshot.createTime) || "not known"}</td>
      <td>
        {snapshot.dims ? `${snapshot.dims} dimensions` : "of relations only"}
        {snapshot.encoder ? <span class="hint">{snapshot.encoder}</span> : null}
      </td>
      <DeedButtons deeds={deeds} of={own} busy={busy} begin={begin} />
    </tr>
  );
}

function label(snapshot: SnapshotInfo | undefined): string {
  return snapshot ? `${snapshot.kg?.name}@${numberOf(snapshot)}` : "The snapshot";
}
