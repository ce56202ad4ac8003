import { addressKey } from '../../../../platform/address-key.ts'
import type { Credentials } from '../../credentials/index.ts'
import type { Hashing } from '../../credentials/passwords/hashing.ts'
import {
  checkNewPassword,
  type PolicyFailure,
  type Requester,
} from '../../credentials/passwords/index.ts'
import type { Rules } from '../../settings/rules.ts'
import type { Client } from './client.ts'
import { fieldError } from './failure.ts'

/** The sender of a password. */
interface Sender {
  tenantId: string
  client: Client
}

export type FormPasswords = ReturnType<typeof createFormPasswords>

/** Passwords of forms: verified and hashed in the queue. */
export function createFormPasswords(parts: {
  credentials: Credentials
  hashing: Hashing
  rules: Rules
}) {
  const { credentials, hashing, rules } = parts

  /**
   * The stored hash that the password matches; undefined if it is wrong. Takes as long if there is
   * no identity, or none with a password.
   */
  async function verify(
    sender: Sender,
    person: { tenantId: string; id: string } | undefined,
    password: string,
  ): Promise<string | undefined> {
    const stored = person && credentials.passwordOf(person)
    if (stored === undefined) await hashing.verifyDummy(requesterOf(sender), password)
    else if (await hashing.verify(requesterOf(sender), password, stored)) return stored
    return undefined
  }

  /** Whether it is the current password of an identity. */
  async function isCurrent(
    sender: Sender,
    person: { tenantId: string; id: string },
    password: string,
  ) {
    const stored = credentials.passwordOf(person)
    return stored !== undefined && hashing.verify(requesterOf(sender), password, stored)
  }

  const hash = (sender: Sender, password: string): Promise<string> =>
    hashing.hash(requesterOf(sender), password)

  /** A new hash for one that was made elsewhere or at another cost, while the password is known. */
  const renew = async (
    sender: Sender,
    password: string,
    stored: string,
  ): Promise<string | undefined> =>
    hashing.needsRehash(stored) ? hash(sender, password).catch(() => undefined) : undefined

  /** Enforces the rules for passwords that users choose. */
  function requireGood(tenantId: string, password: string, identifier: string) {
    const minLength = rules.minLengthOf(tenantId)
    const failure = checkNewPassword(password, { identifier, minLength })
    if (failure)
      throw fieldError(POLICY[failure.rule], { field: 'password', context: lengthsOf(failure) })
  }

  return { verify, isCurrent, hash, renew, set: credentials.setPassword, requireGood }
}

/** A server with a key represents many users, so no IP address counts. */
const requesterOf = ({ tenantId, client: { hasKey, ipAddress } }: Sender): Requester => ({
  tenantId,
  client: hasKey ? undefined : addressKey(ipAddress ?? undefined),
})

const POLICY = {
  too_short: 4000032,
  too_long: 4000033,
  like_identifier: 4000031,
  common: 4900006,
} as const

function lengthsOf(failure: PolicyFailure): Record<string, unknown> {
  if (failure.rule === 'too_short')
    return { min_length: failure.minLength, actual_length: failure.actual }
  if (failure.rule === 'too_long')
    return { max_length: failure.maxLength, actual_length: failure.actual }
  return {}
}
