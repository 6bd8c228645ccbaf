import type { Decision, GerGraphs } from "../api/messages";
import { percent } from "../format/quantity";
import { words } from "../format/text";
import { Badge, type Tone } from "../ui/Badge";
import { EntityName } from "../ui/EntityName";
import type { IconName } from "../ui/Icon";
import { type CandidateRow, candidateRows } from "./candidates";

/** The candidates of Ger: how each was judged, and what reflection changed. */
export function CandidatesView({ graphs }: { graphs: GerGraphs }) {
  const rows = candidateRows(graphs);
  const set = graphs.questionVerdict;
  if (rows.length === 0) {
    return null;
  }
  return (
    <section class="card" aria-label="Candidates">
      <header class="section-head">
        <h2>Candidates, verdicts, reflection</h2>
      </header>
      {set ? (
        <p class="set-verdict">
          {"As a set: "}
          <Badge tone={set.correct ? "graph" : "delete"} icon={set.correct ? "check" : "close"}>
            {set.correct ? "all right" : "not all right"}
          </Badge>{" "}
          <Badge
            tone={set.incomplete ? "replace" : "graph"}
            icon={set.incomplete ? "question" : "check"}
          >
            {set.incomplete ? "something is missing" : "complete"}
          </Badge>{" "}
          {set.reason ? <q>{set.reason}</q> : null}
        </p>
      ) : null}
      <div class="scroll-x">
        <table>
          <thead>
            <tr>
              <th scope="col">Candidate</th>
              <th scope="col">Judged alone</th>
              <th scope="col">Probability</th>
              <th scope="col">Reflection</th>
              <th scope="col">Paths</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.answer}>
                <th scope="row" class="candidate-name">
                  <EntityName name={row.answer} id={row.id} />
                </th>
                <td>
                  <Judged verdict={row.verdict} />
                </td>
                <td>
                  {row.probability !== undefined ? (
                    <span class="probability">
                      <meter
                        min={0}
                        max={1}
                        value={row.probability}
                        aria-label={`Probability of ${row.answer}`}
                      />
                      <span class="figures">{percent(row.probability)}</span>
                    </span>
                  ) : (
                    <span class="muted">–</span>
                  )}
                </td>
                <td>
                  <Decided decision={row.decision} />
                </td>
                <td class="figures">{row.paths.length}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {graphs.reflection ? (
        <p class="hint">{`Reflected by ${words(graphs.reflection, "REFLECTION_MODE_")}.`}</p>
      ) : null}
    </section>
  );
}

function Judged({ verdict }: { verdict: CandidateRow["verdict"] }) {
  switch (verdict) {
    case "right":
      return (
        <Badge tone="graph" icon="check">
          Right
        </Badge>
      );
    case "wrong":
      return (
        <Badge tone="delete" icon="close">
          Wrong
        </Badge>
      );
    case "unknown":
      return (
        <Badge tone="keep" icon="question">
          No verdict
        </Badge>
      );
    default:
      return <span class="muted">not judged</span>;
  }
}

const decisions: Record<Decision, { label: string; tone: Tone; icon: IconName } | undefined> = {
  DECISION_UNSPECIFIED: undefined,
  DECISION_KEEP: { label: "Kept", tone: "keep", icon: "check" },
  DECISION_DROP: { label: "Dropped", tone: "delete", icon: "close" },
  DECISION_ADD: { label: "Added", tone: "add", icon: "plus" },
};

function Decided({ decision }: { decision: Decision | undefined }) {
  const look = decision ? decisions[decision] : undefined;
  return look ? (
    <Badge tone={look.tone} icon={look.icon}>
      {look.label}
    </Badge>
  ) : (
    <span class="muted">–</span>
  );
}
