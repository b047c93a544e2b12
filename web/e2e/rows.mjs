// What tests of several views do alike.

// A view with its tree: the first rows are there.
export async function opened({ page, show }, state) {
  await show("s=0&v=flame");
  await show(state.startsWith("s=") ? state : `s=0&${state}`);
  await page.waitForSelector(".tree-row .kind");
}
