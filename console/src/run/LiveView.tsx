import { ErrorBox } from "../ui/ErrorBox";
import { Icon } from "../ui/Icon";
import type { LiveRun } from "./live";
import { RunView } from "./RunView";
import { stageNames } from "./stages";

/** A question under way, from its first stage to what its answer rests on. */
export function LiveView({ live, traceUrl }: { live: LiveRun; traceUrl?: string | undefined }) {
  const text = live.state === "answered" ? (live.run.text ?? "") : live.text;
  return (
    <>
      <p class="unseen" role="status">
        {told(live)}
      </p>
      {live.state === "failed" ? <ErrorBox error={live.error} doing="Asking" /> : null}
      {live.state === "stopped" ? (
        <p class="run-partial">
          <Icon name="stop" /> Stopped; this is what there was by then.
        </p>
      ) : null}
      <RunView
        run={live.run}
        stages={live.stages}
        text={text}
        writing={live.state === "asking" && text !== ""}
        traceUrl={traceUrl}
      />
    </>
  );
}

// What is read out: each stage as it begins, and the end, but not every word.
function told(live: LiveRun): string {
  if (live.state === "answered") {
    return `Answered: ${(live.run.answers ?? []).map((answer) => answer.answer).join(", ") || "no answer"}`;
  }
  if (live.state === "asking") {
    const running = live.stages.find((stage) => stage.state === "running");
    return running ? stageNames[running.stage].does : "Asked";
  }
  return "";
}
