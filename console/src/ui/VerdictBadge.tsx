import type { Verdict } from "../api/messages";
import { Badge, type Tone } from "./Badge";
import type { IconName } from "./Icon";

/** How a verdict looks and reads: never by colour alone. */
export const verdicts: Record<Verdict, { label: string; tone: Tone; icon: IconName }> = {
  VERDICT_SUPPORTED: { label: "Supported", tone: "graph", icon: "check" },
  VERDICT_CONTRADICTED: { label: "Contradicted", tone: "delete", icon: "close" },
  VERDICT_NOT_IN_KG: { label: "Not in the KG", tone: "keep", icon: "question" },
  VERDICT_UNSPECIFIED: { label: "Not judged yet", tone: "keep", icon: "minus" },
};

/** What the knowledge graph says of a claim. */
export function VerdictBadge({
  verdict = "VERDICT_UNSPECIFIED",
}: {
  verdict?: Verdict | undefined;
}) {
  const { label, tone, icon } = verdicts[verdict];
  return (
    <Badge tone={tone} icon={icon}>
      {label}
    </Badge>
  );
}
