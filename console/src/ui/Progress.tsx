import { number } from "../format/text";
import "./progress.css";

/** How far something has come; without a total, only that it goes on. */
export function Progress({
  label,
  done,
  total,
}: {
  label: string;
  done: number;
  total?: number | undefined;
}) {
  const known = total !== undefined && total > 0;
  return (
    <div class="progress">
      <span class="progress-label">
        {label}{" "}
        <span class="progress-figure">
          {known ? `${number(done)} of ${number(total)}` : number(done)}
        </span>
      </span>
      <progress
        aria-label={label}
        value={known ? done : undefined}
        max={known ? total : undefined}
      />
    </div>
  );
}
