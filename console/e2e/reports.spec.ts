import { published } from "./published";
import { expect, expectAccessible, expectNoSidewaysScroll, test } from "./test";

test("a report is listed, and opened in a sandbox in which it works", async ({ page }) => {
  await page.goto("#/reports");
  await page.getByRole("link", { name: published.title }).click();
  await expect(page).toHaveURL(new RegExp(`#/reports/${published.name}$`));
  const report = page.frameLocator("iframe");
  await expect(report.getByRole("heading", { name: published.title, level: 1 })).toBeVisible();

  await test.step("its script runs", async () => {
    await report.locator("#questions").getByText("What institution employed Robert Stam?").click();
    await expect(report.getByText("New York University").first()).toBeVisible();
  });
  await test.step("its links lead to its parts", async () => {
    await page.keyboard.press("Escape");
    await report.getByRole("link", { name: "Provenance" }).click();
    await expect(report.getByRole("heading", { name: "Provenance" })).toBeInViewport();
    await expect(page).toHaveURL(new RegExp(`#/reports/${published.name}$`));
  });
});

test.describe("what a report tries", () => {
  test.use({ expectedErrors: [/Content Security Policy/] });
  test("reaches neither the console nor the mesh", async ({ page }) => {
    await page.goto(`#/reports/${published.name}`);
    await expect(page.frameLocator("iframe").getByRole("heading", { level: 1 })).toBeVisible();
    const frame = page.frames().find((f) => f.parentFrame() !== null);
    expect(frame).toBeDefined();
    const reached = await frame?.evaluate(async () => {
      const fetched = await fetch("/api/v1/quota").then(
        () => "fetched",
        () => "not fetched",
      );
      let stored = "stored";
      try {
        sessionStorage.getItem("triplemesh.token");
      } catch {
        stored = "not stored";
      }
      let above = "above";
      try {
        void parent.document.title;
      } catch {
        above = "not above";
      }
      return [fetched, stored, above];
    });
    expect(reached).toEqual(["not fetched", "not stored", "not above"]);
  });
});

test.describe("a report by its address", () => {
  test("is in a sandbox too", async ({ page }) => {
    await page.goto(`reports/${published.name}.html`);
    await expect(page.getByRole("heading", { name: published.title })).toBeVisible();
    expect(await page.evaluate(() => origin)).toBe("null");
  });
});

test("the list can be read by everyone, on a phone too", async ({ page }) => {
  await page.goto("#/reports");
  await expect(page.getByRole("link", { name: published.title })).toBeVisible();
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
});

test.describe("a report that is not there", () => {
  test.use({ expectedErrors: [/404/] });
  test("is said not to be", async ({ page }) => {
    await page.goto("#/reports/nothing");
    await expect(page.getByRole("alert")).toContainText("NOT_FOUND");
  });
});
