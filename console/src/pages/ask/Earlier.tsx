import type { Run } from "../../api/messages";
import { href } from "../../app/router";
import { AnswerText } from "../../run/AnswerText";
import { answersOf } from "../../run/answer";
import { Name } from "../../ui/Name";

/** What was asked and answered before the question at hand. */
export function Earlier({ runs }: { runs: Run[] }) {
  if (runs.length === 0) {
    return null;
  }
  return (
    <ol class="earlier" aria-label="Earlier in this conversation">
      {runs.map((run) => (
        <li key={run.id}>
          <a href={href(["runs", run.id ?? ""])}>
            <Name most={160}>{run.question ?? ""}</Name>
          </a>
          <AnswerText text={run.text ?? ""} answers={answersOf(run)} />
        </li>
      ))}
    </ol>
  );
}
