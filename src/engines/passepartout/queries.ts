import { rowsBetween } from '../../db/seq-from.ts'
import { type Clock, isoOrNull, isoTime } from '../../platform/clock.ts'
import { isSame, sha256 } from '../../platform/crypto.ts'
import { createCursor, type Page, page, sortedPage } from '../../platform/cursor.ts'
import { type Device, deviceOf } from '../../platform/device.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import type { Environment } from '../../platform/engines.ts'
import { fail, notFound } from '../../platform/errors.ts'
import { restOf } from '../../platform/scan.ts'
import type { MessengerPlatform } from './messenger.ts'
import type { User } from './model.ts'
import type { Owner } from './owner.ts'
import type { AttemptRow } from './store/attempts.ts'
import type { BotRow } from './store/bots.ts'
import type { Store } from './store/index.ts'
import { type PersonRow, SORT_KEYS } from './store/people.ts'

export const LOGIN_STATES = ['pending', 'opened', 'approved', 'denied', 'mismatched'] as const
export type LoginState = AttemptRow['state']

/** A sign-in as shown to the app's team. It contains no secret. */
export interface LoginRecord {
  id: string
  environment: Environment
  bot_id: string
  state: LoginState
  /** Whether it expired without an answer. */
  is_expired: boolean
  device: Device | null
  client_ip: string | null
  client_label: string | null
  /** The number that the app shows for the user to choose. */
  match_code: string | null
  prompts: number
  user_id: string | null
  created_at: string
  opened_at: string | null
  ended_at: string | null
  /** When the attempt expires; for an approved one, when its token can no longer be collected. */
  expires_at: string
}

/** A user who has signed in. */
export interface PersonRecord extends User {
  environment: Environment
  /** When the messenger last reported the user's data. */
  updated_at: string
}

/** Results of sign-ins, by the hour of their start. */
export interface LoginHours {
  /** Counts of the last 24 hours; the current hour is the last. */
  hours: Record<'approved' | 'refused' | 'expired' | 'waiting', number>[]
  /** Whether a count reached its limit. */
  isCut: boolean
  /** Stored sign-ins by state, each counted up to `MAX_COUNTED`. */
  stored: Record<LoginState, number>
}

interface Asked {
  limit: number
  cursor?: string | undefined
  since?: number | undefined
  until?: number | undefined
}

interface PeopleQuery extends Asked {
  search?: string | undefined
  by: keyof typeof SORT_KEYS
  isDescending: boolean
}

const keyOf = {
  created: ({ createdAt }: PersonRow) => createdAt,
  signed_in: ({ updatedAt }: PersonRow) => updatedAt,
}

/** The console's queries for sign-ins and users. */
export function createQueries(parts: {
  clock: Clock
  store: Store
  linkTo: (bot: BotRow, payload: string) => string
}) {
  const { clock, store, linkTo } = parts

  /** Newest first unless ascending. Without a state, merges the sign-ins of every state. */
  function list(
    owner: Owner,
    query: Asked & { state?: LoginState | undefined; isAscending?: boolean },
  ): Page<LoginRecord> {
    const { state, limit, cursor, isAscending } = query
    const cursors = createCursor(`logins of ${owner.tenantId} ${owner.environment}`)
    const range = rowsBetween(store.attempts.seqFrom, query)
    const window = { ...range, isAscending, limit: limit + 1 }
    const scan = restOf(window, cursors.positionOf(cursor))
    const rows = (state === undefined ? LOGIN_STATES : [state])
      .flatMap((one) => store.attempts.inState(owner, one, scan))
      .toSorted((a, b) => (isAscending ? a.seq - b.seq : b.seq - a.seq))
    const listed = page(rows, limit, ({ seq }) => cursors.encode(seq))
    return { ...listed, data: listed.data.map(present) }
  }

  /** Throws `not_found` for sign-ins of another tenant or environment. */
  const get = (owner: Owner, id: string): LoginRecord => present(existing(owner, id))

  function existing({ tenantId, environment }: Owner, id: string): AttemptRow {
    const row = store.attempts.find(tenantId, id)
    return row?.environment === environment ? row : fail(notFound('sign-in not found'))
  }

  /** The link of a pending attempt; the caller must know its payload. */
  function linkOf(owner: Owner, id: string, payload: string): string | undefined {
    const row = existing(owner, id)
    const bot = store.bots.byId(row.botId)
    const isOpen = !present(row).is_expired && row.state === 'pending'
    return bot && isOpen && isSame(sha256(payload), row.linkHash) ? linkTo(bot, payload) : undefined
  }

  /** Counts of the last day, among the newest attempts of each state. */
  function lastDay(owner: Owner): LoginHours {
    const now = clock.now()
    const first = now - (now % HOUR_MS) - (HOURS - 1) * HOUR_MS
    const hours = Array.from({ length: HOURS }, () => ({ ...NONE }))
    const stored = {} as Record<LoginState, number>
    let isCut = false
    for (const state of LOGIN_STATES) {
      const known = store.attempts.latest(owner, state, MAX_COUNTED)
      stored[state] = known.length
      const ofDay = known.filter(({ createdAt }) => createdAt >= first)
      isCut ||= ofDay.length === MAX_COUNTED
      for (const { createdAt, expiresAt } of ofDay) {
        const tally = hours[Math.floor((createdAt - first) / HOUR_MS)]
        if (tally) tally[outcomeOf(state, now >= expiresAt)]++
      }
    }
    return { hours, isCut, stored }
  }

  /** Stored sign-ins of a user, newest first. */
  function ofPerson(owner: Owner, id: string): LoginRecord[] {
    const { platformUserId } = existingPerson(owner, id)
    const bot = store.bots.find(owner.tenantId, owner.environment)
    return bot ? store.attempts.ofOpener(bot.id, platformUserId, MAX_PER_USER).map(present) : []
  }

  /** Users in an order; `search` is a complete id, account id or username. */
  function people(
    { tenantId, environment }: Owner,
    { search, ...query }: PeopleQuery,
  ): Page<PersonRecord> {
    const of = { tenantId, platform: PLATFORM_OF[environment] }
    if (search !== undefined) return { data: found(of, search), has_more: false, next_cursor: null }
    const list = `people of ${tenantId} ${environment}`
    const listed = sortedPage({ list, keys: SORT_KEYS, keyOf, byId: true }, query, (range) =>
      store.people.sorted(of, { ...query, ...range }),
    )
    return { ...listed, data: listed.data.map(presentPerson) }
  }

  function found(of: Pick<PersonRow, 'tenantId' | 'platform'>, search: string): PersonRecord[] {
    const byId = store.people.find(of.tenantId, search)
    const rows = [
      byId?.platform === of.platform ? byId : undefined,
      store.people.byAccount(of, search),
      ...store.people.byUsername(of, search.replace(/^@/, ''), MAX_FOUND),
    ]
    const people = new Map(rows.flatMap((row) => (row ? [[row.id, row] as const] : [])))
    return [...people.values()].map(presentPerson)
  }

  /** Throws `not_found` for users of another tenant or environment. */
  const person = (owner: Owner, id: string): PersonRecord =>
    presentPerson(existingPerson(owner, id))

  function existingPerson({ tenantId, environment }: Owner, id: string): PersonRow {
    const row = store.people.find(tenantId, id)
    return row?.platform === PLATFORM_OF[environment] ? row : fail(notFound('user not found'))
  }

  function present(row: AttemptRow): LoginRecord {
    const isUnanswered = row.state === 'pending' || row.state === 'opened'
    return {
      id: row.id,
      environment: row.environment,
      bot_id: row.botId,
      state: row.state,
      is_expired: isUnanswered && clock.now() >= row.expiresAt,
      device: deviceOf(row.clientUserAgent),
      client_ip: row.clientIp,
      client_label: row.clientLabel,
      match_code: row.matchCode,
      prompts: row.prompts,
      user_id: row.personId,
      created_at: isoTime(row.createdAt),
      opened_at: isoOrNull(row.openedAt),
      ended_at: isoOrNull(row.endedAt),
      expires_at: isoTime(row.expiresAt),
    }
  }

  return { list, get, linkOf, lastDay, ofPerson, people, person, ...store.readModel }
}

const MAX_FOUND = 20
const MAX_PER_USER = 10

const HOURS = 24
/** Maximum count per state, enough for a chart. */
export const MAX_COUNTED = 500

const NONE = { approved: 0, refused: 0, expired: 0, waiting: 0 }

function outcomeOf(state: LoginState, isTooLate: boolean): keyof typeof NONE {
  if (state === 'approved') return 'approved'
  if (state === 'denied' || state === 'mismatched') return 'refused'
  return isTooLate ? 'expired' : 'waiting'
}

const PLATFORM_OF: Record<Environment, MessengerPlatform> = { live: 'telegram', test: 'sandbox' }

const presentPerson = (row: PersonRow): PersonRecord => ({
  id: row.id,
  environment: row.platform === 'sandbox' ? 'test' : 'live',
  platform: row.platform,
  platform_user_id: row.platformUserId,
  username: row.username,
  first_name: row.firstName,
  last_name: row.lastName,
  language_code: row.languageCode,
  created_at: isoTime(row.createdAt),
  updated_at: isoTime(row.updatedAt),
})
