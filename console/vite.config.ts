import { defineConfig } from "vitest/config";

/** Where a mesh's HTTP port is while the console is worked on. */
const mesh = process.env.TRIPLEMESH_CONSOLE_MESH ?? "http://127.0.0.1:9080";

export default defineConfig({
  // Relative, so that the console also works below a proxy's path.
  base: "./",
  server: { proxy: { "/api": mesh, "/reports": mesh } },
  build: {
    outDir: "../services/orchestrator/http/console/dist",
    emptyOutDir: true,
    // Browsers with light-dark(), CSS nesting and ES2023.
    target: ["chrome123", "edge123", "firefox120", "safari17.5"],
    // Nothing is inlined: the page's Content-Security-Policy has no data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.md" },
  },
  // Properties take longer than the default of 5 s on a busy machine.
  test: { environment: "node", include: ["src/**/*.test.{ts,tsx}"], testTimeout: 60_000 },
});
