/** Checks as often as it can, as for what lasts a millisecond; children that end are seen, too. */
export async function hit(holds: () => boolean, withinMs = 10_000) {
  const end = performance.now() + withinMs
  while (!holds()) {
    if (performance.now() > end) throw new Error(`was not hit in ${withinMs} ms`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
