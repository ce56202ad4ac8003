import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import type { Db } from '../../db/open.ts'
import { addressKey } from '../../platform/address-key.ts'
import type { Buckets } from '../../platform/buckets.ts'
import type { Caller } from '../../platform/caller.ts'
import { type Clock, isoTime } from '../../platform/clock.ts'
import { sha256 } from '../../platform/crypto.ts'
import { invalid } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Metering } from '../../platform/metering/index.ts'
import type { Bots } from './bots.ts'
import { POLL_INTERVAL } from './limits.ts'
import { choicesFor, newMatchCode } from './match.ts'
import type { LoginEvents } from './metrics.ts'
import type { Client, NewLogin, StartedLogin } from './model.ts'
import { ownerOf } from './owner.ts'
import type { BotRow } from './store/bots.ts'
import type { Store } from './store/index.ts'

export type LoginStart = ReturnType<typeof createLoginStart>

/** Starts sign-ins for an app: contract/passepartout-relay, login start. */
export function createLoginStart(parts: {
  db: Db
  clock: Clock
  store: Store
  bots: Bots
  events: LoginEvents
  /** Rate limits per client IP address of started sign-ins. */
  starts: Buckets
  linkTo: (bot: BotRow, payload: string) => string
  metering: Metering
  lifetimeMs: number
}) {
  const { db, clock, store, bots, events, starts, linkTo, metering, lifetimeMs } = parts

  /** Nonce and link payload are separate secrets: the link alone can't collect the result. */
  const start = async (caller: Caller, input: NewLogin): Promise<StartedLogin> =>
    (await begin(caller, input)).started

  /** The same for the console, which follows the attempt directly and keeps no nonce. */
  async function begin(caller: Caller, input: NewLogin): Promise<BegunLogin> {
    const client = checkedClient(input?.client)
    metering.reserve(caller)
    limitStarts(caller, client?.ip)
    const owner = ownerOf(caller)
    const bot = bots.inUse(owner)
    const [nonce, payload] = [newSecret(), newSecret()]
    const matchCode = client || bot.match === 'required' ? newMatchCode() : null
    const id = newId()
    const now = clock.now()
    const expiresAt = now + lifetimeMs
    await db.commitFor(owner.tenantId, () =>
      store.attempts.insert({
        ...owner,
        id,
        botId: bot.id,
        nonceHash: sha256(nonce),
        linkHash: sha256(payload),
        clientIp: client?.ip ?? null,
        clientUserAgent: client?.user_agent ?? null,
        clientLabel: client?.label ?? null,
        matchCode,
        choices: matchCode && JSON.stringify(choicesFor(matchCode)),
        language: 'en',
        createdAt: now,
        expiresAt,
      }),
    )
    events.happened('started')
    const started: StartedLogin = {
      nonce,
      deep_link: linkTo(bot, payload),
      expires_at: isoTime(expiresAt),
      poll_interval: POLL_INTERVAL,
      ...(matchCode !== null && { match_code: matchCode }),
    }
    return { id, payload, started }
  }

  /** Not in the sandbox, which is used for repeated tests from one machine. */
  function limitStarts({ tenantId, environment }: Caller, ip: string | undefined) {
    if (ip === undefined || environment === 'test') return
    starts.admit(`${tenantId} ${addressKey(ip)}`, 'too many sign-ins for this IP address')
  }

  return { start, begin }
}

/** The id of an attempt, and the payload of its link. */
interface BegunLogin {
  id: string
  payload: string
  started: StartedLogin
}

const newSecret = (): string => randomBytes(32).toString('base64url')

function checkedClient(client: Client | undefined): Client | undefined {
  if (client?.ip !== undefined && !isAddress(client.ip))
    throw invalid('must be an IP address', { field: 'client.ip', rule: 'format' })
  return client
}

/** Refuses zones such as `fe80::1%eth0`: the address is shown, and they may contain any text. */
const isAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%')
