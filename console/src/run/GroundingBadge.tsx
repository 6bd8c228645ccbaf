import type { Grounding } from "../api/messages";
import { Badge, type Tone } from "../ui/Badge";
import type { IconName } from "../ui/Icon";

const looks: Record<Grounding, { label: string; tone: Tone; icon: IconName }> = {
  GROUNDING_UNSPECIFIED: { label: "Not settled", tone: "keep", icon: "minus" },
  GROUNDING_GROUNDED: { label: "Grounded in the graph", tone: "graph", icon: "check" },
  GROUNDING_PARTIAL: { label: "Partly grounded", tone: "replace", icon: "contrast" },
  GROUNDING_RELATED: { label: "Related, not stated by the graph", tone: "replace", icon: "link" },
  GROUNDING_UNGROUNDED: { label: "The model's own knowledge", tone: "model", icon: "question" },
  GROUNDING_ABSTAINED: { label: "No answer", tone: "keep", icon: "minus" },
};

/** What an answer rests on, in a word. */
export function GroundingBadge({
  grounding = "GROUNDING_UNSPECIFIED",
}: {
  grounding?: Grounding | undefined;
}) {
  const { label, tone, icon } = looks[grounding];
  return (
    <Badge tone={tone} icon={icon}>
      {label}
    </Badge>
  );
}
