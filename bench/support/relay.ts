import {
  createInstallation,
  type Installation,
  issueKey,
  serveInstallation,
} from './installation.ts'
import type { Server } from './server.ts'

export const MESSAGES = '/v1/relay/messages'

/** An installation with one tenant that sends events with a live key. */
export interface RelayInstallation extends Installation {
  tenantId: string
  key: string
}

export type Relay = RelayInstallation & { server: Server }

export async function createRelayInstallation(
  stack: AsyncDisposableStack,
): Promise<RelayInstallation> {
  const installation = await createInstallation(stack)
  return { ...installation, ...(await issueKey(installation, 'relay')) }
}

/** The program on an installation of its own. */
export async function startRelay(
  stack: AsyncDisposableStack,
  env: Record<string, string> = {},
): Promise<Relay> {
  const installation = await createRelayInstallation(stack)
  return { ...installation, server: await serveInstallation(stack, installation, env) }
}

/** Sends an object to the API and gives back what was answered. */
export async function post<Answer = { id: string }>(
  { server, key }: Pick<Relay, 'server' | 'key'>,
  path: string,
  body: object,
): Promise<Answer> {
  const answer = await fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Answer
}

/** An endpoint for events of these types, all when absent. */
export const addEndpoint = (relay: Relay, url: string, options: object = {}) =>
  post(relay, '/v1/relay/endpoints', { url, ...options })

export const TYPE = 'invoice.paid'

/** An event as a producer would send it, some 400 bytes; its key is in no order, like most. */
export const event = (n: number, type = TYPE) => ({
  event_type: type,
  idempotency_key: crypto.randomUUID(),
  payload: {
    id: 4_000_000 + n,
    customer: { id: '0198c1f2-7a44-7c31-9b60-5d2f6c1e8a90', email: 'ada@example.com' },
    currency: 'EUR',
    total: 129.9,
    paid_at: '2026-11-21T09:30:00.000Z',
    lines: [
      { sku: 'PRO-12', quantity: 1, price: 99.9 },
      { sku: 'SEAT-1', quantity: 3, price: 10 },
    ],
    url: 'https://billing.example.com/invoices/4000000',
  },
})

export type Event = ReturnType<typeof event>
