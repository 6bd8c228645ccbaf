import type { AskStreamResponse, Run, Stage, StageReport } from "../api/messages";

/** One stage of a question under way. */
export type LiveStage = {
  stage: Stage;
  state: "waiting" | "running" | "done" | "skipped";
  /** When it began, in milliseconds of the page's clock. */
  began?: number;
  /** What it took, once it has ended. */
  report?: StageReport;
};

/** A question under way: what has come of it so far. */
export type LiveRun = {
  state: "asking" | "answered" | "stopped" | "failed";
  stages: LiveStage[];
  /** The answer as it has been written so far. */
  text: string;
  /** The run so far. */
  run: Run;
  /** When it was asked, in milliseconds of the page's clock. */
  began: number;
  /** Why it failed. */
  error?: unknown;
};

/** A question that has just been asked by a method with these stages. */
export function asked(stages: Stage[], now: number): LiveRun {
  return {
    state: "asking",
    stages: stages.map((stage) => ({ stage, state: "waiting" })),
    text: "",
    run: {},
    began: now,
  };
}

/** The question after one more event. */
export function heard(live: LiveRun, event: AskStreamResponse, now: number): LiveRun {
  if (event.stageStarted) {
    const stage = event.stageStarted.stage ?? "STAGE_UNSPECIFIED";
    return { ...live, stages: withStage(live.stages, { stage, state: "running", began: now }) };
  }
  if (event.stageFinished) {
    const report = event.stageFinished.report ?? {};
    const stage = report.stage ?? "STAGE_UNSPECIFIED";
    const began = live.stages.find((known) => known.stage === stage)?.began;
    return {
      ...live,
      stages: withStage(live.stages, { stage, state: "done", began, report }),
      run: { ...live.run, ...event.stageFinished.run },
    };
  }
  if (event.answerDelta !== undefined) {
    return { ...live, text: live.text + event.answerDelta };
  }
  if (event.answerRestarted) {
    return { ...live, text: "" };
  }
  if (event.run) {
    const stages = settled(live.stages, event.run.stages ?? []);
    return {
      ...live,
      state: "answered",
      stages,
      run: event.run,
      text: event.run.text ?? live.text,
    };
  }
  return live;
}

/** The question after its stream ended without a run, or broke off. */
export function ended(live: LiveRun, how: "stopped" | "failed", error?: unknown): LiveRun {
  const stages = live.stages.map((stage) =>
    stage.state === "running" || stage.state === "waiting"
      ? { ...stage, state: "skipped" as const }
      : stage,
  );
  return { ...live, state: how, stages, error };
}

/** The stages of a run that was answered before. */
export function stagesOf(run: Run): LiveStage[] {
  return (run.stages ?? []).map((report) => ({
    stage: report.stage ?? "STAGE_UNSPECIFIED",
    state: "done",
    report,
  }));
}

// The stages with one of them in a new state. tog explores and rog searches
// more than once: a stage that starts again goes on where it stands.
function withStage(stages: LiveStage[], changed: LiveStage): LiveStage[] {
  return stages.some(({ stage }) => stage === changed.stage)
    ? stages.map((stage) => (stage.stage === changed.stage ? changed : stage))
    : [...stages, changed];
}

// What never began was not needed, and is told of no more.
function settled(stages: LiveStage[], reports: StageReport[]): LiveStage[] {
  return stages.flatMap((stage) => {
    const report = reports.find((known) => known.stage === stage.stage) ?? stage.report;
    return report ? [{ ...stage, state: "done" as const, report }] : [];
  });
}
