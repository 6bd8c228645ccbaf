import type { Answer, Conflict, Run } from "../api/messages";
import { percent } from "../format/quantity";
import { Icon } from "../ui/Icon";
import { Name } from "../ui/Name";
import { TripleView } from "../ui/TripleView";
import { GroundingBadge } from "./GroundingBadge";
import "./answers.css";

/** What an answer rests on: how far, on which triples, how surely, and what speaks against it. */
export function Answers({ run }: { run: Run }) {
  const { answers = [], withheld = [], conflicts = [] } = run;
  return (
    <div class="answers">
      <div class="answers-ground">
        <GroundingBadge grounding={run.grounding} />
        {run.groundingReason ? <p>{run.groundingReason}</p> : null}
      </div>
      {run.confidence !== undefined ? <Confidence value={Number(run.confidence)} /> : null}
      {answers.length ? <AnswerList answers={answers} label="Answers and their evidence" /> : null}
      {withheld.length ? (
        <section class="answers-withheld">
          <h2>Held back: too unsure to give</h2>
          <AnswerList answers={withheld} label="Answers held back" />
        </section>
      ) : null}
      {conflicts.length ? <Conflicts conflicts={conflicts} /> : null}
    </div>
  );
}

function AnswerList({ answers, label }: { answers: Answer[]; label: string }) {
  return (
    <ul class="answer-list" aria-label={label}>
      {answers.map((answer) => (
        <li key={answer.answer} class={answer.evidence?.length ? "" : "bare"}>
          <strong>
            <Name most={240}>{answer.answer ?? ""}</Name>
          </strong>
          {answer.evidence?.length ? (
            <ul aria-label={`Evidence for ${answer.answer}`}>
              {answer.evidence.map((triple) => (
                <li key={JSON.stringify(triple)}>
                  <TripleView triple={triple} />
                </li>
              ))}
            </ul>
          ) : (
            <p class="muted">No triple of the knowledge graph names it.</p>
          )}
        </li>
      ))}
    </ul>
  );
}

function Confidence({ value }: { value: number }) {
  return (
    <div class="confidence">
      <span>Confidence</span>
      <meter min={0} max={1} value={value} aria-label="Confidence in the answers" />
      <span class="figures">{percent(value)}</span>
    </div>
  );
}

function Conflicts({ conflicts }: { conflicts: Conflict[] }) {
  return (
    <section class="conflicts">
      <h2>
        <Icon name="warning" /> Knowledge graphs disagree
      </h2>
      <ul>
        {conflicts.map((conflict) => (
          <li key={`${conflict.subject} ${conflict.relation}`}>
            <Name>{conflict.subject ?? ""}</Name>, <Name>{conflict.relation ?? ""}</Name>:
            <dl>
              {conflict.triples?.map((triple) => (
                <div key={`${triple.kg} ${triple.object}`}>
                  <dt>{triple.kg}</dt>
                  <dd>
                    <Name most={240}>{triple.object ?? ""}</Name>
                  </dd>
                </div>
              ))}
            </dl>
          </li>
        ))}
      </ul>
    </section>
  );
}
