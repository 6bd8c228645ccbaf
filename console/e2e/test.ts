import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";

export { expect, type Page };

/** What a test may expect to go wrong: messages of the browser's console that it names. */
type Fixtures = { expectedErrors: RegExp[]; watched: undefined };

/** A test of the console, which fails on errors in the page, on what its policy forbids, and on calls to anybody else. */
export const test = base.extend<Fixtures>({
  expectedErrors: [[], { option: true }],
  watched: [
    async ({ page, expectedErrors }, use) => {
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(`an error in the page: ${error.message}`));
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") {
          faults.push(`${message.type()}: ${message.text()}`);
        }
      });
      page.on("request", (request) => {
        const address = request.url();
        if (!/^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(address)) {
          faults.push(`a call to somebody else: ${address}`);
        }
      });
      await use(undefined);
      const unexpected = faults.filter(
        (fault) => !expectedErrors.some((known) => known.test(fault)),
      );
      expect(unexpected, "what went wrong in the browser").toEqual([]);
    },
    { auto: true },
  ],
});

/** Fails where axe finds something serious, in light and in dark colours. */
export async function expectAccessible(page: Page) {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // What lies half under the bar would be too small to be hit.
    await page.evaluate(() => scrollTo(0, 0));
    // Colours are those of a later frame, and of which one nobody tells.
    await expect(async () => {
      const { violations } = await new AxeBuilder({ page })
        .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"])
        .analyze();
      const serious = violations
        .filter((v) => v.impact === "serious" || v.impact === "critical")
        .map(
          (v) =>
            `${v.id} (${colorScheme}): ${v.nodes.map((n) => n.target.join(" ")).join("; ")}: ${v.help}`,
        );
      expect(serious).toEqual([]);
    }).toPass({ timeout: 30_000 });
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
}

/** Fails where the page is wider than the window. */
export async function expectNoSidewaysScroll(page: Page) {
  const { wide, seen, culprits } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const out = [...document.querySelectorAll("main *")].filter(
      (e) => e.getBoundingClientRect().right > clientWidth + 1 && !e.closest(".scroll-x, pre"),
    );
    return {
      wide: scrollWidth,
      seen: clientWidth,
      culprits: out.slice(0, 3).map((e) => `${e.tagName}.${e.className}`),
    };
  });
  expect(wide, `wider than the window: ${culprits.join(", ")}`).toBeLessThanOrEqual(seen);
}
