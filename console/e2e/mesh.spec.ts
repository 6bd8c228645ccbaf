import { expect, expectAccessible, expectNoSidewaysScroll, test } from "./test";

test("the mesh tells of its stages, and of who asks", async ({ page }) => {
  await page.goto("#/mesh");
  await expect(page.getByRole("heading", { name: "All 6 stages serve" })).toBeVisible();
  for (const stage of [
    "orchestrator",
    "generator",
    "retriever",
    "verifier",
    "evaluator",
    "reflector",
  ]) {
    await expect(page.getByRole("listitem").filter({ hasText: stage })).toContainText("Serves");
  }
  await expect(page.getByRole("region", { name: "You" })).toContainText("Tenant");
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
});

test.describe("a stage that goes away", () => {
  test("is seen without the page being asked for again", async ({ page }) => {
    let away = false;
    await page.route("**/api/v1/mesh", async (route) => {
      const response = await route.fetch();
      const mesh = await response.json();
      if (away) {
        mesh.stages[1] = { stage: mesh.stages[1].stage, error: "connection refused" };
      }
      await route.fulfill({ response, json: mesh });
    });
    await page.goto("#/mesh");
    await expect(page.getByRole("heading", { name: "All 6 stages serve" })).toBeVisible();
    away = true;
    await expect(page.getByRole("heading", { name: "1 stage of 6 does not serve" })).toBeVisible();
    await expect(page.getByText("connection refused")).toBeVisible();
  });
});
