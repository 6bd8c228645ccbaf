import "./progress.css";

/** Something is under way, nobody knows how far. */
export function Spinner({ label }: { label: string }) {
  return (
    <p class="spinner" role="status">
      <span class="spinner-dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {label}
    </p>
  );
}
