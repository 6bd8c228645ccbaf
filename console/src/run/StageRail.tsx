import { useEffect, useState } from "preact/hooks";
import { dollars, elapsed, milliseconds, toNumber } from "../format/quantity";
import { count } from "../format/text";
import { Icon } from "../ui/Icon";
import type { LiveStage } from "./live";
import { stageNames } from "./stages";
import "./stage-rail.css";

/** The stages of a question, in their order, as they light up: what each takes and costs. */
export function StageRail({ stages }: { stages: LiveStage[] }) {
  return (
    <ol class="rail" aria-label="Stages">
      {stages.map((stage) => (
        <Stop key={stage.stage} stage={stage} />
      ))}
    </ol>
  );
}

const words: Record<LiveStage["state"], string> = {
  waiting: "waiting",
  running: "under way",
  done: "done",
  skipped: "not needed",
};

function Stop({ stage }: { stage: LiveStage }) {
  const { name, does } = stageNames[stage.stage];
  const { report } = stage;
  const warnings = report?.warnings ?? [];
  const tokens = toNumber(report?.usage?.promptTokens) + toNumber(report?.usage?.completionTokens);
  const cached = report?.usage?.cachedCalls ?? 0;
  const cost = toNumber(report?.usage?.costUsd);
  return (
    <li class={`stop ${stage.state}${warnings.length ? " warned" : ""}`} title={does}>
      <span class="stop-dot">
        {stage.state === "done" ? (
          <Icon name={warnings.length ? "warning" : "check"} size={14} />
        ) : null}
      </span>
      <span class="stop-name">{name}</span>
      <span class="unseen">{`: ${words[stage.state]}`}</span>
      <span class="stop-figures">
        {stage.state === "running" && stage.began !== undefined ? (
          <Clock began={stage.began} />
        ) : null}
        {report ? <span>{elapsed(milliseconds(report.duration))}</span> : null}
        {tokens ? <span>{count(tokens, "token")}</span> : null}
        {cached ? <span>{`${cached} cached`}</span> : null}
        {cost ? <span>{dollars(cost)}</span> : null}
      </span>
    </li>
  );
}

// Counts up where the reader sees it; nobody wants to hear it ten times a second.
function Clock({ began }: { began: number }) {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, []);
  return <span aria-hidden="true">{elapsed(Math.max(0, now - began))}</span>;
}
