import { useId } from "preact/hooks";
import type { Method } from "../../api/messages";

/** Chooses a method; what it does stands in its title. */
export function MethodChoice({
  methods,
  value,
  label = "Method",
  onChange,
}: {
  methods: Method[];
  value: string;
  label?: string;
  onChange: (name: string) => void;
}) {
  const id = useId();
  // Until the mesh has told its methods, the one of the address stands alone.
  const names = methods.length ? methods.map(({ name = "" }) => name) : [value];
  return (
    <div class="choice">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {names.map((name) => (
          <option
            key={name}
            value={name}
            title={methods.find((method) => method.name === name)?.description}
          >
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
