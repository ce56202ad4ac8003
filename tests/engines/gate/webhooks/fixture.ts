import { expect } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { TestApp, TestAppOptions } from '../../../support/app.ts'
import { type ReceivedRequest, startTarget } from '../../../support/target.ts'
import { bootBeside, rest } from '../../relay/fixture.ts'
import {
  bodyOf,
  type Fixture,
  IDENTITIES,
  type Json,
  SECOND,
  useGate,
  WEBHOOKS,
} from '../fixture.ts'

export const WEBHOOK_DELIVERIES = `${WEBHOOKS}/deliveries`

/** In the order of the contract. */
export const ALL_EVENTS = [
  ...['created', 'deleted', 'login', 'password_changed', 'email_verified', 'state_changed'],
].map((name) => `identity.${name}`)

type Client = ReturnType<TestApp['client']>
type WithId = { id: string }

export type Party = Awaited<ReturnType<Awaited<ReturnType<typeof useWebhooks>>>>

/** The application of a test file; each call of the result creates a tenant with a receiver. */
export async function useWebhooks(options: TestAppOptions = {}) {
  const gate = await useGate(options)
  return () => newParty(gate)
}

async function newParty(gate: Fixture) {
  const { app, clock, now, withKey } = gate
  const tenant = await gate.newTenant()
  const target = startTarget()
  return {
    ...tenant,
    app,
    clock,
    now,
    target,
    ...webhooksOf(tenant.api),
    withKey: (key: string) => {
      const other = withKey(key)
      return { ...other, ...webhooksOf(other.api) }
    },
    another: () => newParty(gate),
    rest: () => rest(app),
    /** Until no attempt is left. */
    toTheEnd: async () => {
      await rest(app)
      await clock.advance(5 * SECOND)
      await rest(app)
    },
    [Symbol.asyncDispose]: () => target.stop(),
  }
}

/** The webhooks and their log, as one key sees them. */
function webhooksOf(api: Client) {
  const read = (path: string): Promise<Json> => bodyOf(api.get(path))
  const readDelivery = ({ id }: WithId): Promise<Json> => read(`${WEBHOOK_DELIVERIES}/${id}`)

  async function listDeliveries(query: Record<string, string> = {}): Promise<Json[]> {
    const search = new URLSearchParams({ limit: '100', ...query })
    return (await read(`${WEBHOOK_DELIVERIES}?${search}`)).data
  }

  return {
    read,
    listWebhooks: async (): Promise<Json[]> => (await read(WEBHOOKS)).webhooks,
    change: ({ id }: WithId, fields: Json) => bodyOf(api.patch(`${WEBHOOKS}/${id}`, fields)),
    remove: ({ id }: WithId) => bodyOf(api.delete(`${WEBHOOKS}/${id}`), 204),
    sendTest: ({ id }: WithId, fields?: Json) => bodyOf(api.post(`${WEBHOOKS}/${id}/test`, fields)),
    /** Newest first. */
    listDeliveries,
    readDelivery,
    /** The tenant's only delivery, with its attempts. */
    theDelivery: async (): Promise<Json> => {
      const [delivery, ...others] = await listDeliveries()
      expect(others).toEqual([])
      return readDelivery(delivery)
    },
    removeIdentity: ({ id }: WithId) => bodyOf(api.delete(`${IDENTITIES}/${id}`), 204),
  }
}

export const withoutSecret = ({ secret: _, ...shown }: Json): Json => shown

export const eventIn = (request: ReceivedRequest | undefined): Json =>
  JSON.parse(request?.body ?? '')

/**
 * The secrets that a request is signed with, in the order of its signatures, by the scheme of the
 * contract; `unknown` for another secret. Throws for a header of another form.
 */
export function signersOf(
  request: ReceivedRequest | undefined,
  secrets: string[],
  header = 'x-service-signature',
): string[] {
  const value = request?.headers.get(header) ?? ''
  expect(value).toMatch(/^t=\d{10}(,v1=[0-9a-f]{64})+$/)
  const [timestamp = '', ...signatures] = value.split(',')
  const signed = `${timestamp.slice(2)}.${request?.body}`
  const digest = (secret: string) => createHmac('sha256', secret).update(signed).digest('hex')
  return signatures.map(
    (signature) => secrets.find((secret) => signature === `v1=${digest(secret)}`) ?? 'unknown',
  )
}

/** A second process on the same data, and its API. */
export async function besides(fixture: Pick<Fixture, 'app'>, key: string) {
  const process = await bootBeside(fixture)

  const ask = (method: string) => async (path: string, body?: Json) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const init = { method, headers, body: body && JSON.stringify(body) }
    const answer = await process.app.fetch(new Request(`http://localhost${path}`, init))
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Json }
  }

  return { ...process, get: ask('GET'), put: ask('PUT'), post: ask('POST') }
}
