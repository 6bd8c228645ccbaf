const shapes = {
  contrast: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.400 1.400M17.600 17.600 19 19M5 19l1.400-1.400M17.600 6.400 19 5",
  moon: "M20 14.500A8.500 8.500 0 1 1 9.500 4a7 7 0 0 0 10.500 10.500z",
  close: "M6 6l12 12M18 6 6 18",
  check: "M4 12.500 9.500 18 20 6.500",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  swap: "M4 8h14M14 4l4 4-4 4M20 16H6M10 12l-4 4 4 4",
  question: "M9 9a3 3 0 1 1 4.500 2.600c-1 .6-1.500 1.200-1.500 2.400M12 18v.01",
  stop: "M7 7h10v10H7z",
  play: "M8 5.500v13l10-6.500z",
  arrow: "M5 12h14M13 6l6 6-6 6",
  down: "M6 9l6 6 6-6",
  link: "M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-5.700-5.700L12 7M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 5.700 5.700L12 17",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  download: "M12 4v11M7 10.500l5 5 5-5M5 20h14",
  warning: "M12 4 2.500 20h19zM12 10v4.500M12 17.500v.01",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.500 4.500",
  thumbUp:
    "M7 11v9H4v-9zM7 11l4-7a2 2 0 0 1 2 2.400L12.400 10H18a2 2 0 0 1 2 2.300l-1 6A2 2 0 0 1 17 20H7",
  thumbDown:
    "M7 13V4H4v9zM7 13l4 7a2 2 0 0 0 2-2.400L12.400 14H18a2 2 0 0 0 2-2.300l-1-6A2 2 0 0 0 17 4H7",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  sliders:
    "M4 8h8M18 8h2M15 5.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5zM4 16h2M12 16h8M9 13.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5z",
} as const;

/** The name of a picture. */
export type IconName = keyof typeof shapes;

/** A small picture beside words that say the same; it is never read out. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={shapes[name]} />
    </svg>
  );
}
