import { expect } from 'bun:test'

/** What the engines are asked for, and with what. */
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

/** How each engine says that it cannot store anything, and why. */
export function storageErrors(reason: string) {
  const sentence = `storage: ${reason}`
  const coded = {
    error: { code: 'unavailable', message: sentence, request_id: expect.any(String) },
  }
  const plain = { error: sentence }
  return { relay: coded, gate: plain, clockwork: plain, passepartout: coded }
}
