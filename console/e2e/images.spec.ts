import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { ask, employer } from "./asking";
import { expect, type Page, test } from "./test";

// Pictures for the README. They are made anew by IMAGES=1 alone: times in them
// are others on every run.
const folder = process.env.IMAGES
  ? fileURLToPath(new URL("../../docs/images/", import.meta.url))
  : undefined;

/** The most bytes of a picture. */
const limit = 300_000;

async function picture(page: Page, name: string, unset: string) {
  const path = folder ? `${folder}${name}` : unset;
  await page.mouse.move(0, 0);
  await page.screenshot({ path, fullPage: true, animations: "disabled" });
  expect((await stat(path)).size).toBeLessThan(limit);
}

test.use({ viewport: { width: 1180, height: 800 }, reducedMotion: "reduce" });

test("the console as the README shows it", async ({ page }, info) => {
  await ask(page, employer);
  await expect(page.locator(".picture canvas").first()).toBeVisible();
  await picture(page, "console.png", info.outputPath("console.png"));
});

test("a checked text as the README shows it", async ({ page }, info) => {
  await page.goto("#/check?kg=wikidata");
  await page
    .getByLabel("Text", { exact: true })
    .fill(
      "Robert Stam was employed by Google. Alexander was directed by Oliver Stone. Oliver Stone likes lasagne.",
    );
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await expect(page.getByRole("region", { name: "Put right" })).toBeVisible();
  await picture(page, "check.png", info.outputPath("check.png"));
});
