import { addressKey } from '../../../platform/address-key.ts'
import { type Buckets, createBuckets } from '../../../platform/buckets.ts'
import type { Clock } from '../../../platform/clock.ts'
import { rateLimited } from '../../../platform/errors.ts'
import type { Client } from './client.ts'
import { FlowFailure, tooSoon } from './failure.ts'

export type Throttle = ReturnType<typeof createThrottle>

/**
 * How often somebody may guess. A try is counted before it is looked at, for the person and for the
 * address that it comes from, so that tries at the same time count as well. One that was right is
 * given back: many people may be behind an address, and whoever signs in is in nobody's way.
 */
export function createThrottle(parts: {
  clock: Clock
  perMinute: number
  perIdentifierPerMinute: number
}) {
  const { clock, perMinute, perIdentifierPerMinute } = parts
  const addresses = createBuckets({ clock, perMinute, most: MOST })
  const identifiers = createBuckets({ clock, perMinute: perIdentifierPerMinute, most: MOST })
  const mails = createBuckets({ clock, perHour: MAILS_PER_HOUR, most: MOST })

  /** Throws when there have been too many tries; the try is then not made at all. */
  const guarded = <T>(who: Person, client: Client, attempt: () => Promise<T>): Promise<T> =>
    tried([...ofAddress(client), ofPerson(who)], attempt)

  /** For guesses that are counted for the person elsewhere. */
  const watched = <T>(client: Client, attempt: () => Promise<T>): Promise<T> =>
    tried(ofAddress(client), attempt)

  const ofAddress = (client: Origin): Token[] =>
    client.hasKey ? [] : [{ from: addresses, key: addressOf(client) }]

  const ofPerson = ({ tenantId, purpose, identifier }: Person): Token => ({
    from: identifiers,
    key: JSON.stringify([tenantId, purpose, identifier]),
  })

  /** For what one person may do so often, whatever comes of it. */
  const spend = (who: Person) => takeAll([ofPerson(who)])

  /** For what costs us, or others, something each time: counted whatever comes of it. */
  const counted = (client: Client) => takeAll(ofAddress(client))

  /** The same where no form is shown again: throws `rate_limited`. */
  const admit = (client: Origin) => {
    const tokens = ofAddress(client)
    const waitMs = Math.max(0, ...tokens.map(({ from, key }) => from.take(key)))
    if (waitMs > 0)
      throw rateLimited('too many requests from this address', { retryAfterMs: waitMs })
  }

  /** For what costs a little and can be left out: false, and nothing taken, where there is no room. */
  const takeIfRoom = (client: Client): boolean =>
    ofAddress(client).every(({ from, key }) => from.take(key) === 0)

  /**
   * For mails that a client asks for: how long it has to wait for another one to the same address.
   * A stranger runs into this before the owner of the address does.
   */
  const mailWait = (client: Client, letter: Letter): number =>
    client.hasKey ? 0 : mails.peek(keyOf(client, letter))

  /** For a mail that has been written down. */
  const mailed = (client: Client, letter: Letter) => {
    if (!client.hasKey) mails.take(keyOf(client, letter))
  }

  const keyOf = (client: Client, { tenantId, kind, address }: Letter): string =>
    JSON.stringify([addressOf(client), tenantId, kind, address])

  return { guarded, watched, spend, counted, admit, takeIfRoom, mailWait, mailed }
}

/** Far more than are at it at once; each costs some 400 bytes. */
const MOST = 20_000

/** Of each kind, to one address of a person, asked for from one network. */
const MAILS_PER_HOUR = 5

/** A mail of a kind to an address. */
interface Letter {
  tenantId: string
  kind: string
  address: string
}

/** Where a request comes from, as far as limits go. */
export type Origin = Pick<Client, 'ipAddress' | 'hasKey'>

/** Somebody that a try is for, whether there is such a person or not. */
interface Person {
  tenantId: string
  /** Each is counted by itself: a stranger may type anything as the identifier of a sign-in. */
  purpose: 'sign-in' | 'password change' | 'address change'
  identifier: string
}

/** One of a bucket. */
interface Token {
  from: Buckets
  key: string
}

const addressOf = ({ ipAddress }: Origin): string => addressKey(ipAddress ?? undefined)

async function tried<T>(tokens: Token[], attempt: () => Promise<T>): Promise<T> {
  takeAll(tokens)
  try {
    const result = await attempt()
    giveAll(tokens)
    return result
  } catch (error) {
    // A fault of ours is nobody's guess.
    if (!(error instanceof FlowFailure)) giveAll(tokens)
    throw error
  }
}

/** All or none: who is put off for their own address must not use up the tries of another. */
function takeAll(tokens: Token[]) {
  for (const { from, key } of tokens) {
    const waitMs = from.peek(key)
    if (waitMs > 0) throw tooSoon(waitMs)
  }
  for (const { from, key } of tokens) from.take(key)
}

function giveAll(tokens: Token[]) {
  for (const { from, key } of tokens) from.give(key)
}
