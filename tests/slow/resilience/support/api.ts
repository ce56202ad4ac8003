import { expect } from 'bun:test'
import type { ReceivedRequest } from '../../../support/target.ts'

export const MESSAGES = '/v1/relay/messages'
export const ENDPOINTS = '/v1/relay/endpoints'
export const DELIVERIES = '/v1/relay/deliveries'
export const IDENTITIES = '/v1/gate/identities'
export const JOBS = '/v1/clockwork/delayed'
export const LOGINS = '/v1/passepartout/login'

export const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
export const message = (n: number, filling = '') => ({ event_type: 'a.b', payload: { n, filling } })
export const person = (n: number) => ({
  schema_id: 'user',
  traits: { email: `p-${n}@example.com` },
})

export const eventId = ({ headers }: ReceivedRequest): string => headers.get('webhook-id') ?? ''

/** The answer of each engine that cannot store anything, with the reason. */
export function storageErrors(reason: string) {
  const error = `storage: ${reason}`
  const coded = { code: 'unavailable', message: error, request_id: expect.any(String) }
  const [relay, gate] = [
    { status: 503, body: { error: coded } },
    { status: 503, body: { error } },
  ] as const
  return { relay, gate, clockwork: gate, passepartout: relay }
}
