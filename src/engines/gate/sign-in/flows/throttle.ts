import { addressKey } from '../../../../platform/address-key.ts'
import { type Buckets, createBuckets } from '../../../../platform/buckets.ts'
import type { Clock } from '../../../../platform/clock.ts'
import type { Siblings } from '../../../../platform/siblings.ts'
import type { Client } from './client.ts'
import { FlowFailure, tooSoon } from './failure.ts'

export type Throttle = ReturnType<typeof createThrottle>

/** Counts a guess before its check, because several may run at once; refunds correct ones. */
export function createThrottle(parts: {
  clock: Clock
  perMinute: number
  perIdentifierPerMinute: number
  siblings: Siblings
}) {
  const { clock, perMinute, perIdentifierPerMinute, siblings } = parts
  const addresses = createBuckets({
    clock,
    perMinute,
    most: MAX,
    shared: { siblings, limit: 'sign-ins of an address' },
  })
  const identifiers = createBuckets({
    clock,
    perMinute: perIdentifierPerMinute,
    most: MAX,
    shared: { siblings, limit: 'sign-ins of a person' },
  })

  /** Throws if there were too many attempts; the attempt is then not made. */
  const guarded = <T>(who: Person, client: Client, attempt: () => Promise<T>): Promise<T> =>
    tried([...ofAddress(client), ofPerson(who)], attempt)

  /** For guesses that are also counted per identity. */
  const watched = <T>(client: Client, attempt: () => Promise<T>): Promise<T> =>
    tried(ofAddress(client), attempt)

  const ofAddress = (client: Origin): Token[] =>
    client.hasKey ? [] : [{ from: addresses, key: addressOf(client) }]

  const ofPerson = ({ tenantId, purpose, identifier }: Person): Token => ({
    from: identifiers,
    key: JSON.stringify([tenantId, purpose, identifier]),
  })

  /** Limits an action per identity, regardless of its result. */
  const spend = (who: Person) => takeAll([ofPerson(who)])

  /** Limits costly actions per client, regardless of their result. */
  const counted = (client: Client) => takeAll(ofAddress(client))

  /** The same limit outside of forms: throws `rate_limited`. */
  const admit = (client: Origin) => {
    for (const { from, key } of ofAddress(client))
      from.admit(key, 'too many requests from this address')
  }

  /** For cheap, optional actions: returns false and takes nothing if the limit is reached. */
  const takeIfRoom = (client: Client): boolean =>
    ofAddress(client).every(({ from, key }) => from.take(key) === 0)

  return { guarded, watched, spend, counted, admit, takeIfRoom }
}

/** Maximum number of buckets; each takes about 400 bytes. */
const MAX = 20_000

/** The source of a request, as far as limits are concerned. */
export type Origin = Pick<Client, 'ipAddress' | 'hasKey'>

/** The identity that an attempt is for, whether it exists or not. */
interface Person {
  tenantId: string
  /** Each is counted by itself: a stranger may type anything as the identifier of a sign-in. */
  purpose: 'sign-in' | 'password change' | 'address change'
  identifier: string
}

/** One token of a bucket. */
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
    // A failure of the server is not a wrong guess.
    if (!(error instanceof FlowFailure)) giveAll(tokens)
    throw error
  }
}

/** All or none: a client limited by its own address must not use up the attempts of others. */
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
