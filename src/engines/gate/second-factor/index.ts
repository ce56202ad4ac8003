import type { Clock } from '../../../platform/clock.ts'
import type { Sealing } from '../../../platform/sealing/index.ts'
import type { Credentials } from '../credentials.ts'
import { totpSecret } from '../sealed.ts'
import type { TenantSettings } from '../settings.ts'
import type { IdentityRow } from '../store/identities.ts'
import type { Store } from '../store/index.ts'
import { normaliseRecoveryCode } from './recovery-codes.ts'
import { matchTotp } from './totp.ts'

type Person = Pick<IdentityRow, 'tenantId' | 'id'>

/** How the authenticator of somebody is kept. */
interface Totp {
  /** Sealed. */
  secret: string
  /** The time step of the last code that was taken. */
  after: number | null
  /** Wrong answers since the last right one, and the time of the latest. */
  failures: number
  failedAt: number | null
  /** The same of those who came by the mailbox, whom those who know a password must not hold up. */
  byMailbox?: Tally
}

type Tally = Pick<Totp, 'failures' | 'failedAt'>

/** How whoever answers has shown the first factor: by the mailbox, or in any other way. */
export type CameBy = 'mailbox' | 'other'

interface RecoveryCode {
  /** HMAC, hexadecimal. */
  hash: string
  usedAt: number | null
}

/** Wrong answers in a row, after which none is looked at for a while. */
const MOST_FAILURES = 10
const BLOCKED_MS = 15 * 60_000

const { purpose: TOTP_KEPT, place: placeOf } = totpSecret
const CODES_KEPT = 'gate recovery codes'

const NO_FAILURES: Tally = { failures: 0, failedAt: null }

const tallyOf = (totp: Totp | undefined, by: CameBy): Tally =>
  (by === 'mailbox' ? totp?.byMailbox : totp) ?? NO_FAILURES

/** What came of an answer. `blocked`: it was not even looked at. */
export type Verdict = 'right' | 'wrong' | 'used' | 'blocked'

export type SecondFactors = ReturnType<typeof createSecondFactors>

/**
 * Authenticators, and the recovery codes for when one is lost: contract/gate, `mfa_enabled`.
 * All of it runs within a commit, so that no code counts twice.
 */
export function createSecondFactors(parts: {
  store: Store
  clock: Clock
  sealing: Sealing
  settings: TenantSettings
  credentials: Credentials
}) {
  const { store, clock, sealing, settings, credentials } = parts

  /** Whether one factor is not enough for somebody. */
  const isOwedBy = (person: Person): boolean =>
    settings.of(person.tenantId).isMfaEnabled && hasTotp(person)

  const hasTotp = ({ tenantId, id }: Person): boolean =>
    store.credentials.find(tenantId, id, 'totp') !== undefined

  const hasCodes = ({ tenantId, id }: Person): boolean =>
    store.credentials.find(tenantId, id, 'lookup_secret') !== undefined

  /** `code` has been shown to belong to `secret`, in the time step `after`. */
  const setTotp = (person: Person, secret: string, after: number) =>
    putTotp(person, {
      secret: sealing.seal(TOTP_KEPT, placeOf(person), secret),
      after,
      failures: 0,
      failedAt: null,
    })

  /** The recovery codes were for its loss. */
  function removeTotp({ tenantId, id }: Person) {
    store.credentials.remove(tenantId, id, 'totp')
    store.credentials.remove(tenantId, id, 'lookup_secret')
  }

  const setCodes = (person: Person, codes: readonly string[]) =>
    putCodes(
      person,
      codes.map((code) => ({ hash: hashOf(person, code), usedAt: null })),
    )

  const removeCodes = ({ tenantId, id }: Person) =>
    store.credentials.remove(tenantId, id, 'lookup_secret')

  const acceptTotp = (person: Person, typed: string, by: CameBy): Verdict =>
    counted(person, by, (totp) => {
      const secret = sealing.open(TOTP_KEPT, placeOf(person), totp.secret)
      const step = matchTotp({ secret, code: typed, now: clock.now(), after: totp.after })
      if (step === undefined) return 'wrong'
      totp.after = step
      return 'right'
    })

  const acceptCode = (person: Person, typed: string, by: CameBy): Verdict =>
    counted(person, by, () => {
      const codes = codesOf(person)
      const hash = hashOf(person, normaliseRecoveryCode(typed) ?? typed)
      const code = codes.find((one) => one.hash === hash)
      if (!code) return 'wrong'
      if (code.usedAt !== null) return 'used'
      code.usedAt = clock.now()
      putCodes(person, codes)
      return 'right'
    })

  /** One count for both kinds of answers: who guesses may take either. */
  function counted(person: Person, by: CameBy, look: (totp: Totp) => Verdict): Verdict {
    const totp = totpOf(person)
    if (!totp) return 'wrong'
    const now = clock.now()
    if (blockedMs(person, by) > 0) return 'blocked'
    const { failures, failedAt } = tallyOf(totp, by)
    const isOver = failedAt !== null && now - failedAt >= BLOCKED_MS
    const verdict = look(totp)
    const isRight = verdict === 'right'
    const tally = {
      failures: isRight ? 0 : (isOver ? 0 : failures) + 1,
      failedAt: isRight ? null : now,
    }
    putTotp(person, { ...totp, ...(by === 'mailbox' ? { byMailbox: tally } : tally) })
    return verdict
  }

  /** How long answers are not looked at; 0 when they are. */
  function blockedMs(person: Person, by: CameBy): number {
    const { failures, failedAt } = tallyOf(totpOf(person), by)
    if (failures < MOST_FAILURES || failedAt === null) return 0
    return Math.max(failedAt + BLOCKED_MS - clock.now(), 0)
  }

  function totpOf({ tenantId, id }: Person): Totp | undefined {
    const row = store.credentials.find(tenantId, id, 'totp')
    return row && (JSON.parse(row.config) as Totp)
  }

  const putTotp = (person: Person, totp: Totp) => credentials.put(person, 'totp', totp)

  function codesOf({ tenantId, id }: Person): RecoveryCode[] {
    const row = store.credentials.find(tenantId, id, 'lookup_secret')
    return row ? (JSON.parse(row.config) as { codes: RecoveryCode[] }).codes : []
  }

  /** How many recovery codes there are, and how many of them are good for another sign-in. */
  function countCodes(person: Person): { left: number; all: number } {
    const codes = codesOf(person)
    return { left: codes.filter(({ usedAt }) => usedAt === null).length, all: codes.length }
  }

  const putCodes = (person: Person, codes: RecoveryCode[]) =>
    credentials.put(person, 'lookup_secret', { codes })

  const hashOf = ({ id }: Person, code: string) => sealing.fingerprint(CODES_KEPT, `${id} ${code}`)

  return {
    isOwedBy,
    hasTotp,
    hasCodes,
    setTotp,
    removeTotp,
    setCodes,
    removeCodes,
    countCodes,
    acceptTotp,
    acceptCode,
    blockedMs,
  }
}
