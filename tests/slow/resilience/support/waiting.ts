import { expect } from 'bun:test'
import { type Server, until } from '../../../support/binary.ts'

/**
 * Past the moment, but not a moment of idleness: somebody asks whether all is well. Resolves with
 * the milliseconds of the slowest answer.
 */
export async function wellUntil(server: Server, moment: number): Promise<number> {
  let slowest = 0
  await until(async () => {
    const askedAt = performance.now()
    const { status } = await fetch(`${server.url}/healthz`)
    expect(status).toBe(200)
    slowest = Math.max(slowest, performance.now() - askedAt)
    return performance.now() >= moment
  })
  return slowest
}

/** Looks as often as it can, as for what lasts a millisecond; children that end are seen, too. */
export async function hit(holds: () => boolean, withinMs = 10_000) {
  const end = performance.now() + withinMs
  while (!holds()) {
    if (performance.now() > end) throw new Error(`was not hit in ${withinMs} ms`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
