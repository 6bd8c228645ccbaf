import { describe, expect, it } from "vitest";
import type { AskStreamResponse } from "../api/messages";
import { asked, ended, heard, type LiveRun, stagesOf } from "./live";

const stages = ["STAGE_PSEUDO_GRAPH", "STAGE_VERIFY", "STAGE_ANSWER"] as const;
const hearing = (...events: AskStreamResponse[]): LiveRun =>
  events.reduce((live, event, i) => heard(live, event, i), asked([...stages], 0));
const states = (live: LiveRun) => live.stages.map((stage) => stage.state);

describe("a question under way", () => {
  it("waits for its stages", () => {
    expect(states(hearing())).toEqual(["waiting", "waiting", "waiting"]);
  });

  it("lights a stage up as it begins and keeps what it took", () => {
    const report = { stage: "STAGE_PSEUDO_GRAPH" as const, duration: "1s" };
    const live = hearing(
      { stageStarted: { stage: "STAGE_PSEUDO_GRAPH" } },
      { stageFinished: { report, run: { id: "R", pgAkv: { cypher: "CREATE" } } } },
      { stageStarted: { stage: "STAGE_VERIFY" } },
    );
    expect(states(live)).toEqual(["done", "running", "waiting"]);
    expect(live.stages[0]?.report).toBe(report);
    expect(live.stages[1]?.began).toBe(2);
    expect(live.run.pgAkv?.cypher).toBe("CREATE");
  });

  it("joins the pieces of the answer", () => {
    expect(hearing({ answerDelta: "New " }, { answerDelta: "York" }).text).toBe("New York");
    const otherwise = hearing(
      { answerDelta: "Old Y" },
      { answerRestarted: true },
      { answerDelta: "New" },
    );
    expect(otherwise.text).toBe("New");
  });

  it("keeps what stages before have made", () => {
    const live = hearing(
      { stageFinished: { run: { kg: { name: "wikidata" } } } },
      { stageFinished: { run: { method: "ger" } } },
    );
    expect(live.run).toMatchObject({ kg: { name: "wikidata" }, method: "ger" });
  });

  it("shows a stage that the method did not tell of", () => {
    expect(
      hearing({ stageStarted: { stage: "STAGE_REWRITE" } }).stages.map((stage) => stage.stage),
    ).toContain("STAGE_REWRITE");
  });

  it("is answered by its run, and tells no more of what never began", () => {
    const run = { text: "Paris", stages: [{ stage: "STAGE_ANSWER" as const }] };
    const live = hearing(
      { stageStarted: { stage: "STAGE_ANSWER" } },
      { answerDelta: "Par" },
      { run },
    );
    expect([live.state, live.text, live.run]).toEqual(["answered", "Paris", run]);
    expect(live.stages.map((stage) => [stage.stage, stage.state])).toEqual([
      ["STAGE_ANSWER", "done"],
    ]);
  });

  it("passes over an event it does not know", () => {
    const live = hearing({ answerDelta: "a" });
    expect(heard(live, {}, 9)).toBe(live);
  });

  it("stops with what it had", () => {
    const live = ended(
      hearing({ stageStarted: { stage: "STAGE_PSEUDO_GRAPH" } }, { answerDelta: "New" }),
      "stopped",
    );
    expect([live.state, live.text]).toEqual(["stopped", "New"]);
    expect(states(live)).toEqual(["skipped", "skipped", "skipped"]);
  });
});

it("reads the stages of a run that was answered before", () => {
  expect(stagesOf({ stages: [{ stage: "STAGE_LINK", duration: "1s" }] })).toMatchObject([
    { stage: "STAGE_LINK", state: "done" },
  ]);
  expect(stagesOf({})).toEqual([]);
});
