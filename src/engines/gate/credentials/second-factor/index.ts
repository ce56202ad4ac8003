import type { Clock } from '../../../../platform/clock.ts'
import { MINUTE_MS } from '../../../../platform/durations.ts'
import type { Sealing } from '../../../../platform/sealing/index.ts'
import type { IdentityRow } from '../../identities/store.ts'
import { totpSecret } from '../../sealed.ts'
import type { TenantSettings } from '../../settings/index.ts'
import type { Store } from '../../store.ts'
import type { Credentials } from '../index.ts'
import { normaliseRecoveryCode } from './recovery-codes.ts'
import { matchTotp } from './totp.ts'

type Person = Pick<IdentityRow, 'tenantId' | 'id'>

/** An authenticator as stored. */
interface Totp {
  /** Sealed. */
  secret: string
  /** The time step of the last accepted code. */
  after: number | null
  /** Consecutive wrong answers, and the time of the latest. */
  failures: number
  failedAt: number | null
  /** Sign-ins by mailbox count separately: an attacker with the password can't lock them out. */
  byMailbox?: Tally
}

type Tally = Pick<Totp, 'failures' | 'failedAt'>

/** How the first factor was given: by the mailbox, or otherwise. */
export type FirstFactor = 'mailbox' | 'other'

interface RecoveryCode {
  /** HMAC, hexadecimal. */
  hash: string
  usedAt: number | null
}

/** Consecutive wrong answers, after which further ones are rejected for a while. */
const MAX_FAILURES = 10
const BLOCKED_MS = 15 * MINUTE_MS

const { purpose: TOTP_KEPT, boundTo } = totpSecret
const CODES_KEPT = 'gate recovery codes'

const NO_FAILURES: Tally = { failures: 0, failedAt: null }

const tallyOf = (totp: Totp | undefined, by: FirstFactor): Tally =>
  (by === 'mailbox' ? totp?.byMailbox : totp) ?? NO_FAILURES

/** The result of an answer. `blocked` means that it was not checked. */
export type FactorResult = 'right' | 'wrong' | 'used' | 'blocked'

export type SecondFactors = ReturnType<typeof createSecondFactors>

/** Apps and recovery codes: contract/gate, `mfa_enabled`. In a commit, so no code counts twice. */
export function createSecondFactors(parts: {
  store: Store
  clock: Clock
  sealing: Sealing
  settings: TenantSettings
  credentials: Credentials
}) {
  const { store, clock, sealing, settings, credentials } = parts

  /** Whether the identity requires a second factor. */
  const isOwedBy = (person: Person): boolean =>
    settings.of(person.tenantId).isMfaEnabled && hasTotp(person)

  const hasTotp = ({ tenantId, id }: Person): boolean =>
    store.credentials.find(tenantId, id, 'totp') !== undefined

  const hasCodes = ({ tenantId, id }: Person): boolean =>
    store.credentials.find(tenantId, id, 'lookup_secret') !== undefined

  /** Stores an authenticator. `code` was verified against `secret` for the time step `after`. */
  const setTotp = (person: Person, secret: string, after: number) =>
    putTotp(person, {
      secret: sealing.seal(TOTP_KEPT, boundTo(person), secret),
      after,
      failures: 0,
      failedAt: null,
    })

  /** Removes the authenticator, and the recovery codes that were meant for its loss. */
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

  const acceptTotp = (person: Person, typed: string, by: FirstFactor): FactorResult =>
    counted(person, by, (totp) => {
      const secret = sealing.open(TOTP_KEPT, boundTo(person), totp.secret)
      const step = matchTotp({ secret, code: typed, now: clock.now(), after: totp.after })
      if (step === undefined) return 'wrong'
      totp.after = step
      return 'right'
    })

  const acceptCode = (person: Person, typed: string, by: FirstFactor): FactorResult =>
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

  /** Both kinds of answers share one count, because an attacker could try either. */
  function counted(
    person: Person,
    by: FirstFactor,
    check: (totp: Totp) => FactorResult,
  ): FactorResult {
    const totp = totpOf(person)
    if (!totp) return 'wrong'
    const now = clock.now()
    if (blockedMs(person, by) > 0) return 'blocked'
    const { failures, failedAt } = tallyOf(totp, by)
    const isOver = failedAt !== null && now - failedAt >= BLOCKED_MS
    const outcome = check(totp)
    const isRight = outcome === 'right'
    const tally = {
      failures: isRight ? 0 : (isOver ? 0 : failures) + 1,
      failedAt: isRight ? null : now,
    }
    putTotp(person, { ...totp, ...(by === 'mailbox' ? { byMailbox: tally } : tally) })
    return outcome
  }

  /** How long answers are rejected, in milliseconds; 0 if they are accepted. */
  function blockedMs(person: Person, by: FirstFactor): number {
    const { failures, failedAt } = tallyOf(totpOf(person), by)
    if (failures < MAX_FAILURES || failedAt === null) return 0
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

  /** The number of recovery codes, and of those not used yet. */
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
