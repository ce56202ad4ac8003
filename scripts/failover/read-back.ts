import type { Acknowledged } from './history.ts'
import type { Installation } from './installation.ts'
import { byKind, type Kind, type Request } from './kinds.ts'
import { type Answer, send } from './requests.ts'
import type { Server } from './server.ts'

const AT_ONCE = 32
const PATIENCE_MS = 10_000
const ATTEMPTS = 5
const RETRY_MS = 500

export type ReadBack = ReturnType<typeof createReadBack>

/** Looks up on a server what it has of the writes that were acknowledged. */
export function createReadBack(kinds: readonly Kind[], { keys, monitors, cronJobs }: Installation) {
  /** The writes that the server does not have. */
  async function missing(server: Server, writes: readonly Acknowledged[]): Promise<Acknowledged[]> {
    const found = []
    for (const [name, own] of byKind(writes)) {
      const kind = kinds.find((one) => one.name === name)
      found.push(
        ...(kind?.pathOf ? await lookUp(server, kind, own) : await lookUpPings(server, own)),
      )
    }
    return found
  }

  async function lookUp(server: Server, { pathOf, isThere }: Kind, writes: Acknowledged[]) {
    const lost: Acknowledged[] = []
    await inParallel(writes, async (write) => {
      if (!pathOf) return
      const { status, body } = await ask(server, pathOf(write.key))
      if (status >= 300 || !(isThere?.(body) ?? true)) lost.push(write)
    })
    return lost
  }

  async function lookUpPings(server: Server, writes: Acknowledged[]) {
    const stored = new Set<string>()
    await inParallel(monitors, async ({ id }) => {
      const path = `/v1/clockwork/monitors/${id}/pings`
      for (const { body } of await list<{ body: string }>(server, path)) stored.add(`${id}/${body}`)
    })
    return writes.filter(({ key }) => !stored.has(key))
  }

  /** The runs of all cron jobs that the server knows of. */
  async function runs(server: Server): Promise<Run[]> {
    const all: Run[] = []
    await inParallel(cronJobs, async (id) => {
      const path = `/v1/clockwork/jobs/${id}/executions`
      for (const run of await list<Omit<Run, 'job'>>(server, path)) all.push({ ...run, job: id })
    })
    return all
  }

  /** A list of the API of jobs; some lists are the body itself. */
  async function list<Row>(server: Server, path: string): Promise<Row[]> {
    const { body } = await ask(server, { path, apiKey: keys.clockwork })
    const rows = Array.isArray(body) ? body : Object.values(body).find(Array.isArray)
    return (rows ?? []) as Row[]
  }

  return { missing, runs }
}

export interface Run {
  job: string
  id: string
  slot_at: string
  attempt: number
}

/** Repeats what is refused because the server is busy. */
async function ask({ url }: Server, request: Request): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await send(url, request, AbortSignal.timeout(PATIENCE_MS)).catch(() => undefined)
    if (answer && answer.status < 500 && answer.status !== 429) return answer
    if (attempt === ATTEMPTS)
      throw new Error(`${request.path} cannot be read: ${answer?.status ?? 'no answer'}`)
    await Bun.sleep(RETRY_MS)
  }
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>) {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of rest) await work(item)
    }),
  )
}
