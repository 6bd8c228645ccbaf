import { Icon } from "../ui/Icon";
import type { Item } from "./feedback";
import { useRunFeedback } from "./useFeedback";
import "./feedback.css";

/** Whether an item of the run is right or wrong, by the reader's word. */
export function Thumbs({ item, name }: { item: Item; name: string }) {
  const feedback = useRunFeedback();
  if (!feedback) {
    return null;
  }
  const judgement = feedback.of(item)?.mark?.judgement;
  return (
    <span class="thumbs">
      {(
        [
          ["JUDGEMENT_RIGHT", "thumbUp", "Right"],
          ["JUDGEMENT_WRONG", "thumbDown", "Wrong"],
        ] as const
      ).map(([says, icon, label]) => (
        <button
          key={says}
          type="button"
          class="thumb"
          title={label}
          aria-label={`${label}: ${name}`}
          aria-pressed={judgement === says}
          onClick={() => feedback.toggle(item, says)}
        >
          <Icon name={icon} size={16} />
        </button>
      ))}
    </span>
  );
}
