import { useState } from "preact/hooks";
import type { SnapshotInfo } from "../../api/messages";
import { useServices } from "../../app/services";
import { bytes, toNumber } from "../../format/quantity";
import { count, number } from "../../format/text";
import { moment } from "../../format/time";
import { Badge } from "../../ui/Badge";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { ErrorBox } from "../../ui/ErrorBox";
import { Spinner } from "../../ui/Spinner";
import { type Kg, numberOf } from "./snapshots";

/** Something that is done to a knowledge graph. */
type Deed = {
  /** What it is, for the line that tells of it: "Dropping films@2". */
  doing: string;
  act: () => Promise<string>;
  /** Where it is asked about first: the dialog's title, its button and its text. */
  ask?: { title: string; action: string; danger?: boolean; text: string };
};

/** The snapshots of a knowledge graph, and what can be done to them. */
export function SnapshotTable({ kg, onChanged }: { kg: Kg; onChanged: () => void }) {
  const { api, router } = useServices();
  const [asking, ask] = useState<Deed>();
  const [doing, setDoing] = useState<string>();
  const [done, setDone] = useState<string>();
  const [failed, setFailed] = useState<{ doing: string; error: unknown }>();

  const run = async (deed: Deed) => {
    ask(undefined);
    setDone(undefined);
    setFailed(undefined);
    setDoing(deed.doing);
    try {
      setDone(await deed.act());
      onChanged();
    } catch (error) {
      setFailed({ doing: deed.doing, error });
    }
    setDoing(undefined);
  };
  const begin = (deed: Deed) => (deed.ask ? ask(deed) : void run(deed));

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
      <div class="scroll-x">
        <table>
          <caption class="unseen">Snapshots of {name}, the newest first</caption>
          <thead>
            <tr>
              <th scope="col">Snapshot</th>
              <th scope="col">Triples</th>
              <th scope="col">Entities</th>
              <th scope="col">Size</th>
              <th scope="col">Built</th>
              <th scope="col">Vectors</th>
              <th scope="col">
                <span class="unseen">What can be done</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {kg.snapshots.map((snapshot) => (
              <Row
                key={numberOf(snapshot)}
                snapshot={snapshot}
                busy={doing !== undefined}
                begin={begin}
              />
            ))}
          </tbody>
        </table>
      </div>
      <div role="status">
        {doing ? <Spinner label={doing} /> : null}
        {done ? <p>{done}</p> : null}
      </div>
      {failed ? <ErrorBox error={failed.error} doing={failed.doing} /> : null}
      <p class="snapshot-actions">
        <button
          type="button"
          class="button"
          disabled={doing !== undefined || kg.snapshots.length < 2}
          onClick={() => begin(rollback)}
        >
          Roll back
        </button>
        <button
          type="button"
          class="button danger"
          disabled={doing !== undefined}
          onClick={() => begin(dropAll)}
        >
          Drop {name}
        </button>
      </p>
      {asking?.ask ? (
        <ConfirmDialog
          title={asking.ask.title}
          action={asking.ask.action}
          danger={asking.ask.danger ?? false}
          onCancel={() => ask(undefined)}
          onConfirm={() => void run(asking)}
        >
          <p>{asking.ask.text}</p>
        </ConfirmDialog>
      ) : null}
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
      <th scope="row">
        {n}{" "}
        {snapshot.active ? (
          <Badge tone="graph" icon="check">
            Active
          </Badge>
        ) : null}
        {Number(snapshot.base ?? 0) > 0 ? (
          <span class="hint">{`a delta of ${snapshot.base}`}</span>
        ) : null}
      </th>
      <td class="figures">{number(toNumber(snapshot.triples))}</td>
      <td class="figures">{number(toNumber(snapshot.entities))}</td>
      <td class="figures">{bytes(snapshot.bytes)}</td>
      <td>{moment(snapshot.createTime) || "not known"}</td>
      <td>
        {snapshot.dims ? `${snapshot.dims} dimensions` : "of relations only"}
        {snapshot.encoder ? <span class="hint">{snapshot.encoder}</span> : null}
      </td>
      <td class="snapshot-deeds">
        {deeds
          .filter(([, , can]) => can)
          .map(([word, deed]) => (
            <button
              key={word}
              type="button"
              class="button small"
              disabled={busy}
              aria-label={`${word} ${own}`}
              onClick={() => begin(deed)}
            >
              {word}
            </button>
          ))}
      </td>
    </tr>
  );
}

function label(snapshot: SnapshotInfo | undefined): string {
  return snapshot ? `${snapshot.kg?.name}@${numberOf(snapshot)}` : "The snapshot";
}
