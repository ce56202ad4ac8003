import { connect } from './connection.ts'
import type { Server } from './server.ts'

export interface Crowd {
  /** How many are at it at a time. */
  inFlight: number
  requests: string[]
}

export interface Passed {
  ms: number
  /** Answers of 503. */
  refusals: number
  /** How often one of them was refused, at the most. */
  mostRefusals: number
  /** The share of one core that the clients in this process used. */
  clientShare: number
}

/**
 * Sends each request by one of so many clients, which wait without taking a core. Who is told to
 * come back does so when told, and until the request is granted: any other answer is an error.
 */
export async function passThrough(
  server: Server,
  { inFlight, requests }: Crowd,
  isGranted: (body: string) => boolean,
): Promise<Passed> {
  using stack = new DisposableStack()
  const connections = await Promise.all(Array.from({ length: inFlight }, () => connect(server)))
  for (const connection of connections) stack.use(connection)
  const rest = requests.values()
  const refusals: number[] = []
  const cpu = process.cpuUsage()
  const start = performance.now()
  await Promise.all(
    connections.map(async ({ ask }) => {
      for (const request of rest) refusals.push(await insist(() => ask(request), isGranted))
    }),
  )
  const ms = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  return {
    ms,
    refusals: refusals.reduce((sum, count) => sum + count, 0),
    mostRefusals: Math.max(...refusals),
    clientShare: (user + system) / 1000 / ms,
  }
}

/** How often it was refused before it was granted. */
async function insist(
  ask: () => ReturnType<Awaited<ReturnType<typeof connect>>['ask']>,
  isGranted: (body: string) => boolean,
): Promise<number> {
  for (let refusals = 0; ; refusals++) {
    const { status, retryAfter, body } = await ask()
    if (status === 200 && isGranted(body)) return refusals
    if (status !== 503 || retryAfter === undefined) throw new Error(`answered ${status}: ${body}`)
    await Bun.sleep(retryAfter * 1000)
  }
}
