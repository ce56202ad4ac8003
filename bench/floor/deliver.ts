/**
 * Makes requests like those of a delivery by the same guarded client or by plain `fetch`, both of
 * which reuse connections, and keeps nothing: as many as a plan says in a bare loop, or one for each event that is posted to it, at once, to the URL
 * in its argument. Nothing is signed; the signatures are as long as real ones.
 */
import { randomUUIDv7 } from 'bun'
import { KEPT_RESPONSE_BYTES, RESPONSE_BODY_MS } from '../../src/delivery/limits.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createOutbound } from '../../src/platform/outbound/index.ts'
import type { CallPlan } from '../support/calls.ts'
import { type Event, event, MESSAGES } from '../support/relay.ts'

const [target = ''] = process.argv.slice(2)

const outbound = createOutbound({
  clock: systemClock,
  allow: ['127.0.0.0/8'],
  timeoutMs: 15_000,
  maxResponseBytes: KEPT_RESPONSE_BYTES,
})

async function deliver(url: string, id: string, { event_type: type, payload }: Event) {
  const now = Date.now()
  const result = await outbound.send({
    url,
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': `${Math.floor(now / 1000)}`,
      'webhook-signature': `v1,${'A'.repeat(43)}=`,
      'X-Service-Signature': `t=${Math.floor(now / 1000)},v1=${'0'.repeat(64)}`,
      'X-Service-Event-Type': type,
      'X-Service-Attempt': '1',
      'X-Service-Trigger': 'schedule',
    },
    body: JSON.stringify({ type, timestamp: new Date(now).toISOString(), data: payload }),
    headIsEnough: true,
    bodyTimeoutMs: RESPONSE_BODY_MS,
    tenantId: 'floor',
    reusesConnection: true,
  })
  if (!result.replied) throw new Error(`no answer from ${url}: ${result.message}`)
}

async function fetchOne(url: string, { event_type: type, payload: data }: Event) {
  const body = JSON.stringify({ type, data })
  const answer = await fetch(url, { method: 'POST', body })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
}

async function deliverAll({ client, urls, calls, concurrency }: CallPlan) {
  let begun = 0
  async function worker() {
    while (begun < calls) {
      const n = begun++
      const url = urls[n % urls.length] as string
      await (client === 'fetch' ? fetchOne(url, event(n)) : deliver(url, randomUUIDv7(), event(n)))
    }
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: concurrency }, worker))
  return { ms: performance.now() - start }
}

function passOn(event: Event) {
  const id = randomUUIDv7()
  void deliver(target, id, event)
  return { id }
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  routes: {
    [MESSAGES]: async (request) =>
      Response.json(passOn((await request.json()) as Event), { status: 202 }),
  },
  fetch: async (request) => Response.json(await deliverAll((await request.json()) as CallPlan)),
})
console.log(JSON.stringify({ url: server.url.origin }))
