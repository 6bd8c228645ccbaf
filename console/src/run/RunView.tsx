import type { Run } from "../api/messages";
import { href } from "../app/router";
import { count } from "../format/text";
import { CopyLink } from "../ui/CopyLink";
import { Icon } from "../ui/Icon";
import { Answers } from "./Answers";
import { AnswerText } from "./AnswerText";
import { answersOf } from "./answer";
import { Figures } from "./Figures";
import { type LiveStage, stagesOf } from "./live";
import { RunGraphs } from "./RunGraphs";
import { StageRail } from "./StageRail";
import { FeedbackContext, useFeedback } from "./useFeedback";
import "./run.css";

/**
 * A run whole: its stages, its answer and what that rests on, and the graphs on
 * the way. It shows a run under way as well: `stages` and `text` then say how
 * far it has come, and what is not there yet is left out.
 */
export function RunView({
  run,
  stages = stagesOf(run),
  text = run.text ?? "",
  writing = false,
  traceUrl,
}: {
  run: Run;
  stages?: LiveStage[];
  text?: string;
  writing?: boolean;
  traceUrl?: string | undefined;
}) {
  const warnings = stages.flatMap(({ report }) => report?.warnings ?? []);
  const settled = run.grounding !== undefined;
  // A run is stored once it is over, which its duration tells.
  const feedback = useFeedback(settled && run.duration !== undefined ? run.id : undefined);
  return (
    <div class="run">
      <section class="card answer-card" aria-label="Answer">
        <StageRail stages={stages} />
        {run.standaloneQuestion ? (
          <p class="muted">
            Answered as: <q dir="auto">{run.standaloneQuestion}</q>
          </p>
        ) : null}
        {text ? <AnswerText text={text} answers={answersOf(run)} writing={writing} /> : null}
        {settled ? (
          <FeedbackContext.Provider value={feedback}>
            <Answers run={run} />
          </FeedbackContext.Provider>
        ) : null}
        {settled && run.partial ? (
          <p class="run-partial">
            <Icon name="warning" /> The run ended early; this is what it had by then.
          </p>
        ) : null}
        {warnings.length ? (
          <details class="fold run-warnings">
            <summary>{count(warnings.length, "warning")}</summary>
            <ul>
              {warnings.map((warning) => (
                <li key={`${warning.code} ${warning.message}`}>
                  <code>{warning.code}</code> {warning.message}
                </li>
              ))}
            </ul>
          </details>
        ) : null}
        {feedback ? (
          <p>
            <CopyLink href={href(["runs", run.id ?? ""])} />
          </p>
        ) : null}
        {run.usage ? <Figures run={run} traceUrl={traceUrl} /> : null}
      </section>
      <RunGraphs run={run} />
    </div>
  );
}
