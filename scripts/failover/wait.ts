const LOOK_MS = 50

/** Waits for a condition. Throws after `ms` with what should have happened, and why it may not have. */
export async function waitFor(
  what: string,
  ms: number,
  holds: () => boolean | Promise<boolean>,
  reason: () => unknown = () => '',
): Promise<void> {
  const end = performance.now() + ms
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${ms / 1000} s: ${what} ${reason()}`)
    await Bun.sleep(LOOK_MS)
  }
}
