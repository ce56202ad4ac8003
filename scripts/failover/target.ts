import type { Acknowledged } from './history.ts'

/** A request of a job that arrived. */
export interface Call {
  /** What the job was created with. */
  job: string
  attempt: number
  execution: string
}

export type Target = ReturnType<typeof startTarget>

/** Receives what the servers send out: events at /hook, and requests of jobs at /job/NAME. */
export function startTarget() {
  const deliveries = new Map<string, number>()
  const calls: Call[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const { headers } = request
      if (pathname === '/hook') count(headers.get('webhook-id') ?? '')
      else
        calls.push({
          job: pathname.slice('/job/'.length),
          attempt: Number(headers.get('x-clockwork-attempt')),
          execution: headers.get('x-clockwork-execution-id') ?? '',
        })
      await request.body?.cancel()
      return new Response('ok')
    },
  })
  const count = (id: string) => deliveries.set(id, (deliveries.get(id) ?? 0) + 1)
  const url = `http://127.0.0.1:${server.port}`

  return {
    hook: `${url}/hook`,
    jobUrl: (name: string) => `${url}/job/${name}`,
    calls,
    /** Events that were acknowledged and have not arrived. */
    undelivered: (events: readonly Acknowledged[]) =>
      events.filter(({ key }) => !deliveries.has(key)),
    duplicates: () => [...deliveries.values()].filter((times) => times > 1).length,
    stop: () => server.stop(true),
  }
}
