import type { Clock } from '../platform/clock.ts'
import { rateLimited } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Endpoint } from './endpoint-cache.ts'
import type { Message } from './formats.ts'
import type { PolicyOf } from './policy.ts'
import type { Event } from './publish.ts'
import type { Send, Sent } from './send.ts'

/** The number of concurrent test events … */
const TESTS_AT_ONCE = 4
/** … and the longest wait, because the server closes connections that are idle for longer. */
const MAX_WAIT_MS = 20_000

/** Sends one event, neither stored nor counted, and waits for the response. */
export function createTestEvent(parts: { clock: Clock; send: Send; policyOf: PolicyOf }) {
  const { clock, send, policyOf } = parts
  const inProgress = new Map<string, number>()

  return async (
    endpoint: Endpoint,
    event: Pick<Event, 'id' | 'type' | 'payload'>,
  ): Promise<{ sent: Sent; message: Message }> => {
    const { tenantId, stream, format } = endpoint
    const others = inProgress.get(tenantId) ?? 0
    if (others >= TESTS_AT_ONCE)
      throw rateLimited(`${TESTS_AT_ONCE} tests are running; wait for a response`)
    inProgress.set(tenantId, others + 1)
    const { id = newId(), type, payload } = event
    const message = { id, tenantId, type, payload, acceptedAt: clock.now() }
    try {
      const input = { endpoint, message, format, attempt: 1, trigger: 'test' } as const
      const { timeoutMs, heedsReceiver } = policyOf(stream)
      const options = { timeoutMs: Math.min(timeoutMs, MAX_WAIT_MS), heedsReceiver }
      return { sent: await send(input, options), message }
    } finally {
      leave(tenantId)
    }
  }

  function leave(tenantId: string) {
    const left = (inProgress.get(tenantId) ?? 1) - 1
    if (left === 0) inProgress.delete(tenantId)
    else inProgress.set(tenantId, left)
  }
}
