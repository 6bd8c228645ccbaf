import type { RankerInfo } from "../../api/messages";
import { Problem } from "../../api/problem";
import { useServices } from "../../app/services";
import { useCall } from "../../app/useCall";
import { count } from "../../format/text";
import { moment } from "../../format/time";
import { ErrorBox } from "../../ui/ErrorBox";
import { Spinner } from "../../ui/Spinner";
import { type Deed, DeedButtons, DeedTable, RowHeading, useDeeds } from "./Deeds";

/** The learnt rankings of a knowledge graph's paths, and how to train one. */
export function RankerTable({ kg }: { kg: string }) {
  const { api } = useServices();
  const { value, error, again } = useCall((signal) => api.rankers(kg, { signal }), [kg]);
  const { begin, busy, state } = useDeeds(again);
  const rankers = value?.rankers ?? [];
  const rollback: Deed = {
    doing: `Rolling the ranking of ${kg} back`,
    act: async () => {
      const { ranker } = await api.rollbackRanker(kg);
      return ranker ? `${label(ranker)} is active now.` : "No learnt ranking is active now.";
    },
    ask: {
      title: `Roll the ranking of ${kg} back?`,
      action: "Roll back",
      text: "Paths will be ranked as they were before the active ranking was activated.",
    },
  };
  if (error instanceof Problem && error.document.reason === "STORE_UNSUPPORTED") {
    return <p>The retriever keeps no learnt rankings: it ranks paths by rules.</p>;
  }
  if (error !== undefined) {
    return <ErrorBox error={error} doing={`Reading the rankings of ${kg}`} retry={again} />;
  }
  if (!value) {
    return <Spinner label={`Reading the rankings of ${kg}`} />;
  }
  return (
    <div class="snapshots">
      {rankers.length === 0 ? (
        <p>
          No ranking has been trained for {kg}: its paths are ranked by the ranking that the mesh
          has for all graphs.
        </p>
      ) : (
        <DeedTable
          caption={`Learnt rankings of ${kg}, the newest first`}
          columns={["Ranking", "Trained on", "First path right", "Stored"]}
        >
          {rankers.map((ranker) => (
            <Row key={ranker.number} ranker={ranker} busy={busy} begin={begin} />
          ))}
        </DeedTable>
      )}
      {state}
      {rankers.some(({ active }) => active) ? (
        <p class="snapshot-actions">
          <button type="button" class="button" disabled={busy} onClick={() => begin(rollback)}>
            Roll back
          </button>
        </p>
      ) : null}
      <h2>Train a ranking</h2>
      <p>
        Training runs beside the mesh, takes minutes on a CPU, and activates a ranking only if it is
        better on questions that were held back. From the marks of callers on answers:
      </p>
      <pre class="command">triplemesh train ranker --kg {kg} --from-feedback</pre>
      <p>From questions with answers, or from questions that are made of the graph itself:</p>
      <pre class="command">{`triplemesh train ranker --kg ${kg} --questions questions.jsonl
triplemesh train ranker --kg ${kg} --synthesise`}</pre>
    </div>
  );
}

function Row({
  ranker,
  busy,
  begin,
}: {
  ranker: RankerInfo;
  busy: boolean;
  begin: (deed: Deed) => void;
}) {
  const { api } = useServices();
  const kg = ranker.kg?.name ?? "";
  const n = ranker.number ?? "0";
  const own = label(ranker);
  const activate: Deed = {
    doing: `Activating ${own}`,
    act: async () => `${label((await api.activateRanker(kg, n)).ranker)} is active now.`,
  };
  const remove: Deed = {
    doing: `Deleting ${own}`,
    act: async () => {
      await api.deleteRanker(kg, n);
      return `${own} is deleted.`;
    },
    ask: {
      title: `Delete ${own}?`,
      action: `Delete ${own}`,
      danger: true,
      text: "Nothing brings it back but training it again.",
    },
  };
  return (
    <tr>
      <RowHeading
        n={n}
        active={ranker.active}
        hint={ranker.defect && `cannot rank: ${ranker.defect}`}
      />
      <td>
        {ranker.trained ? count(ranker.trained, "question") : ""}
        <span class="hint">{ranker.questionSets?.join(", ")}</span>
      </td>
      <td class="figures">
        {ranker.held
          ? `${share(ranker.first)}, before ${share(ranker.firstBefore)}`
          : "not measured"}
        {ranker.held ? <span class="hint">{`of ${count(ranker.held, "question")}`}</span> : null}
      </td>
      <td>{moment(ranker.createTime) || "not known"}</td>
      <DeedButtons
        deeds={[
          ["Activate", activate, !ranker.active && !ranker.defect],
          ["Delete", remove, !ranker.active],
        ]}
        of={own}
        busy={busy}
        begin={begin}
      />
    </tr>
  );
}

/** A share of questions as the table shows it. JSON has NaN as a word. */
function share(value: RankerInfo["first"]): string {
  return `${Math.round(100 * Number(value ?? 0))} %`;
}

function label(ranker: RankerInfo | undefined): string {
  return ranker ? `Ranking ${ranker.number}` : "The ranking";
}
