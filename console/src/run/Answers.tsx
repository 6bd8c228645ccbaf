import type { Answer, Conflict, Run } from "../api/messages";
import { percent } from "../format/quantity";
import { EntityName } from "../ui/EntityName";
import { Icon } from "../ui/Icon";
import { Name } from "../ui/Name";
import { Provenance } from "../ui/Provenance";
import { TripleView } from "../ui/TripleView";
import { Correction } from "./Correction";
import { GroundingBadge } from "./GroundingBadge";
import { Thumbs } from "./Thumbs";
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
      <Correction />
    </div>
  );
}

function AnswerList({ answers, label }: { answers: Answer[]; label: string }) {
  return (
    <ul class="answer-list" aria-label={label}>
      {answers.map((answer) => (
        <li key={answer.answer} class={answer.evidence?.length ? "" : "bare"}>
          <strong>
            <EntityName name={answer.answer} id={answer.id} most={240} />
          </strong>
          <Thumbs item={{ answer }} name={answer.answer ?? ""} />
          {answer.evidence?.length ? (
            <ul aria-label={`Evidence for ${answer.answer}`}>
              {answer.evidence.map((triple) => (
                <li key={JSON.stringify(triple)}>
                  <TripleView triple={triple} />
                  <Thumbs
                    item={{ triple }}
                    name={`${triple.subject} ${triple.relation} ${triple.object}`}
                  />
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
            <EntityName name={conflict.subject} id={conflict.triples?.[0]?.subjectId} />,{" "}
            <Name>{conflict.relation ?? ""}</Name>:
            <dl>
              {conflict.triples?.map((triple) => (
                <div key={`${triple.kgName} ${triple.object}`}>
                  <dt>{triple.kgName}</dt>
                  <dd>
                    <EntityName name={triple.object} id={triple.objectId} most={240} />
                    <Provenance from={triple.provenance} links={true} />
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
