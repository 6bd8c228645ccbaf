import type { Answer, Edit, Run, Triple } from "../../api/messages";
import { elapsed, milliseconds, percent } from "../../format/quantity";
import { words } from "../../format/text";
import { spent } from "../../format/usage";

/** A run as Markdown, to be kept or sent on. What comes out of graphs, models and questions is only ever text in it. */
export function markdownOf(run: Run): string {
  const parts = [
    `# ${plain(run.question)}`,
    bullets([
      fact("Answers", (run.answers ?? []).map(named).join(", ")),
      fact(
        "Rests on",
        [words(run.grounding, "GROUNDING_"), plain(run.groundingReason)].filter(Boolean).join(": "),
      ),
      fact("Confidence", run.confidence === undefined ? "" : percent(run.confidence)),
      fact("Method", plain(run.method)),
      fact("Knowledge graph", run.kg ? plain(`${run.kg.name}@${run.kg.snapshot ?? "0"}`) : ""),
      fact("Asked", plain(run.startTime)),
      fact("Took", spent(run.usage, run.duration).join(", ")),
      fact("Run", plain(run.id)),
      fact("Trace", plain(run.traceId)),
    ]),
    plain(run.text),
    section("Evidence", triples((run.answers ?? []).flatMap((answer) => answer.evidence ?? []))),
    section("From the model's draft to the fixed graph", run.pgAkv?.edits?.map(edit)),
    section("Candidates", candidates(run)),
    section("Stages", stages(run)),
  ];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

/** Text that Markdown, and the HTML it becomes, take for nothing but text; on one line. */
export function plain(text: string | undefined): string {
  return (text ?? "")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_{}[\]()#+\-.!|<>~&:@]/g, "\\$&");
}

function bullets(lines: string[]): string {
  return lines.filter(Boolean).join("\n");
}

function fact(name: string, value: string): string {
  return value && `- ${name}: ${value}`;
}

function section(title: string, lines: string[] | undefined): string {
  return lines?.length ? `## ${title}\n\n${lines.map((line) => `- ${line}`).join("\n")}` : "";
}

function named({ answer, id }: Answer): string {
  return `**${plain(answer)}**${id && id !== answer ? ` (${plain(id)})` : ""}`;
}

function triple({ subject, relation, object, validity, kgName, provenance }: Triple): string {
  const time = validity
    ? ` (${plain(validity.start) || "?"} to ${plain(validity.end) || "now"})`
    : "";
  return `${plain(subject)} — ${plain(relation)} — ${plain(object)}${time}${kgName ? `, in ${plain(kgName)}` : ""}${provenance ? `, from ${plain(provenance)}` : ""}`;
}

function triples(all: Triple[]): string[] {
  return [...new Set(all.map(triple))];
}

function edit({ kind, before, after, evidence }: Edit): string {
  const sides = [before && triple(before), after && triple(after)].filter(Boolean);
  const change = kind === "EDIT_KIND_KEEP" ? sides.slice(0, 1) : sides;
  const rests = triples((evidence ?? []).flatMap((e) => e.triple ?? []));
  return `${words(kind, "EDIT_KIND_")}: ${change.join(" → ")}${rests.length ? `; by ${rests.join("; ")}` : ""}`;
}

function candidates(run: Run): string[] {
  const ger = run.ger;
  return (ger?.candidates ?? []).map(({ answer, paths }) => {
    const verdict = ger?.answerVerdicts?.find((v) => v.answer === answer);
    const decision = ger?.reflections?.find((r) => r.answer === answer)?.decision;
    const judged =
      verdict && !verdict.unknown ? (verdict.correct ? "judged right" : "judged wrong") : "";
    const sure =
      verdict?.probability === undefined ? "" : `probability ${percent(verdict.probability)}`;
    const found = `${paths?.length ?? 0} paths`;
    return `${plain(answer)} (${[found, judged, sure, words(decision, "DECISION_")].filter(Boolean).join(", ")})`;
  });
}

function stages(run: Run): string[] {
  return (run.stages ?? []).map(({ stage, duration, usage, warnings }) => {
    const took = usage ? spent(usage, duration) : [elapsed(milliseconds(duration))];
    const warned = (warnings ?? []).map((w) => `; ${plain(w.message)}`).join("");
    return `${words(stage, "STAGE_")}: ${took.join(", ")}${warned}`;
  });
}
