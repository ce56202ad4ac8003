import type { Bucket } from './bucket.ts'
import type { Options } from './options.ts'
import type { Server } from './server.ts'
import { waitFor } from './wait.ts'

/** Time to start, and what a large database takes longer. */
const START_MS = 120_000
const MS_PER_MB = 200

export type Pair = ReturnType<typeof createPair>

/** Two servers, one of which is active. */
export function createPair(servers: readonly [Server, Server], bucket: Bucket, options: Options) {
  const [first, second] = servers
  const startMs = START_MS + options.sizeMb * MS_PER_MB

  /** The server that holds the lease. */
  const active = () => (bucket.lease()?.server.name === second.name ? second : first)
  const other = (server: Server) => (server === first ? second : first)
  const generation = () => bucket.lease()?.generation ?? 0

  const serving = () =>
    waitFor('a server is active', startMs, async () => {
      const state = bucket.lease()?.state
      return state === 'held' && (await active().isServing())
    })

  /** Resolves when one server is active and the other one says that it can take over. */
  async function ready() {
    await serving()
    const since = Date.now()
    const report = () => bucket.reports().findLast(({ name }) => name === other(active()).name)
    const isReady = () => report()?.isReady === true && (report()?.writtenAt ?? 0) > since
    await waitFor('the standby is ready', startMs, isReady, () => JSON.stringify(report()))
  }

  /** Resolves when a server is active in a later generation. */
  async function takenOver(after: number) {
    await waitFor('the standby takes over', startMs, () => generation() > after)
    await serving()
  }

  return { servers, startMs, active, other, generation, serving, ready, takenOver }
}
