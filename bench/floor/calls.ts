/**
 * Makes the calls of `fire` in a bare loop when asked to: by the same guarded client, or by
 * plain `fetch`, which reuses connections unless it is a fresh one. Nothing is read from a database and nothing is kept.
 */
import { systemClock } from '../../src/platform/clock.ts'
import { createOutbound } from '../../src/platform/outbound/index.ts'
import type { CallPlan } from '../support/calls.ts'
import { delayedJob } from '../support/jobs.ts'

const outbound = createOutbound({
  clock: systemClock,
  allow: ['127.0.0.0/8'],
  timeoutMs: 30_000,
  maxResponseBytes: 65_536,
})

const clients = {
  outbound: async (url: string) => (await send(url)).replied,
  fetch: (url: string) => fetchOne(url, true),
  'fresh fetch': (url: string) => fetchOne(url, false),
}

async function fetchOne(url: string, keepalive: boolean) {
  const { method, headers, body } = delayedJob(url, 0)
  const answer = await fetch(url, { method, headers, body, keepalive })
  await answer.arrayBuffer()
  return answer.ok
}

const send = (url: string) => outbound.send(delayedJob(url, 0))

/** The lines of all hosts move at once; each has at most its share of calls under way. */
async function callAll({ client, urls, calls, concurrency }: CallPlan) {
  let begun = 0
  async function worker() {
    while (begun < calls) {
      const url = urls[begun++ % urls.length] as string
      if (!(await clients[client](url))) throw new Error(`no good answer from ${url}`)
    }
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: concurrency }, worker))
  return { ms: performance.now() - start }
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  fetch: async (request) => Response.json(await callAll((await request.json()) as CallPlan)),
})
console.log(JSON.stringify({ url: server.url.origin }))
