import { type Connection, connect } from './connection.ts'
import type { Sample } from './rounds.ts'
import type { Server } from './server.ts'

export interface Pace {
  everyMs: number
  /** The text of request number `n`, from 0. */
  request: (n: number) => string
}

/**
 * Asks at a steady pace until `work` is done, however long the answers take, and says how long
 * they took, in milliseconds, beside what came of the work. A slow answer holds up no other: there
 * are as many connections as it takes.
 */
export async function probeDuring<T>(
  server: Server,
  { everyMs, request }: Pace,
  work: Promise<T>,
): Promise<{ of: T; times: number[] }> {
  using stack = new DisposableStack()
  const connections: Connection[] = []
  let isOver = false
  const over = () => {
    isOver = true
  }
  work.then(over, over)

  async function free(): Promise<Connection> {
    const found = connections.find(({ isBusy }) => !isBusy())
    if (found) return found
    const connection = stack.use(await connect(server))
    connections.push(connection)
    return connection
  }

  const times: Promise<number>[] = []
  const start = performance.now()
  for (let n = 0; !isOver; n++) {
    await Bun.sleep(Math.max(start + n * everyMs - performance.now(), 0))
    const asked = timed(await free(), request(n))
    // Reported below, once all requests are complete.
    asked.catch(() => {})
    times.push(asked)
  }
  return { of: await work, times: await Promise.all(times) }
}

async function timed({ ask }: Connection, request: string): Promise<number> {
  const start = performance.now()
  const { status, body } = await ask(request)
  if (status < 200 || status > 299) throw new Error(`answered ${status}: ${body}`)
  return performance.now() - start
}

export function latencyOf(times: number[]): Sample {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { 'ms p50': at(0.5), 'ms p99': at(0.99), 'ms max': sorted.at(-1) ?? Number.NaN }
}
