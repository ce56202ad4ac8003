import { addressKey } from '../../../platform/address-key.ts'
import { type Buckets, createBuckets } from '../../../platform/buckets.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Client } from './client.ts'
import { FlowFailure, tooSoon } from './failure.ts'

export type Throttle = ReturnType<typeof createThrottle>

/**
 * How often somebody may guess. A try for one person is counted before it is looked at, and given
 * back if it was right, so that tries at the same time count as well. Tries from one address count
 * once they have failed: many people may be behind it, and none of them is in the way of another.
 */
export function createThrottle(parts: {
  clock: Clock
  perMinute: number
  perIdentifierPerMinute: number
}) {
  const { clock, perMinute, perIdentifierPerMinute } = parts
  const addresses = createBuckets({ clock, perMinute, most: MOST })
  const identifiers = createBuckets({ clock, perMinute: perIdentifierPerMinute, most: MOST })

  /** Throws when there have been too many tries; the try is then not made at all. */
  async function guarded<T>(
    { tenantId, identifier }: { tenantId: string; identifier: string },
    client: Client,
    attempt: () => Promise<T>,
  ): Promise<T> {
    const whose = JSON.stringify([tenantId, identifier])
    // First: who is put off for their own address must not use up the tries of another.
    if (!client.hasKey) requireRoom(addresses, addressOf(client))
    takeOne(identifiers, whose)
    try {
      const result = await watched(client, attempt)
      identifiers.give(whose)
      return result
    } catch (error) {
      // A fault of ours is nobody's guess.
      if (!(error instanceof FlowFailure)) identifiers.give(whose)
      throw error
    }
  }

  /** For guesses that are counted elsewhere as well: those that fail count against the address. */
  async function watched<T>(client: Client, attempt: () => Promise<T>): Promise<T> {
    if (client.hasKey) return attempt()
    requireRoom(addresses, addressOf(client))
    try {
      return await attempt()
    } catch (error) {
      if (error instanceof FlowFailure) addresses.take(addressOf(client))
      throw error
    }
  }

  /** For what one person may do so often, whatever comes of it. */
  const spend = ({ tenantId, identifier }: { tenantId: string; identifier: string }) =>
    takeOne(identifiers, JSON.stringify([tenantId, identifier]))

  /** For what costs us, or others, something each time: counted whatever comes of it. */
  function counted(client: Client) {
    if (!client.hasKey) takeOne(addresses, addressOf(client))
  }

  /** For what costs a little and can be left out: counted where there is room. */
  const hasRoom = (client: Client): boolean =>
    client.hasKey || addresses.take(addressOf(client)) === 0

  return { guarded, watched, spend, counted, hasRoom }
}

/** Far more than are at it at once; each costs some 400 bytes. */
const MOST = 20_000

const addressOf = ({ ipAddress }: Client): string => addressKey(ipAddress ?? undefined)

function requireRoom(buckets: Buckets, key: string) {
  const waitMs = buckets.peek(key)
  if (waitMs > 0) throw tooSoon(waitMs)
}

function takeOne(buckets: Buckets, key: string) {
  const waitMs = buckets.take(key)
  if (waitMs > 0) throw tooSoon(waitMs)
}
