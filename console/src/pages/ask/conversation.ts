import type { Run, Turn } from "../../api/messages";

/** The most turns that a request may carry. */
const most = 64;

/** What was said in answered runs, oldest first, as a follow-up's request carries it. */
export function turnsOf(runs: Run[]): Turn[] {
  const turns = runs.flatMap((run): Turn[] => {
    const question = run.question ?? "";
    const answer = (run.text ?? "").trim();
    return question && answer
      ? [
          { role: "ROLE_USER", text: question },
          { role: "ROLE_ASSISTANT", text: answer },
        ]
      : [];
  });
  return turns.slice(-most);
}
