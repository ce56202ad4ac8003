import { Secret, TOTP } from 'otpauth'

/** The parameters that every authenticator app supports; many ignore others in the URI. */
const SETTINGS = { algorithm: 'SHA1', digits: 6, period: 30 }

/** RFC 4226 section 4, requirement 6. */
const SECRET_BYTES = 20

/** RFC 6238 section 5.2: tolerates a clock difference of one step, and the time to type. */
const STEPS_APART = 1

/** The URI has it twice and must fit a QR code; a Chinese character takes nine, a space three. */
const MAX_ISSUER_LENGTH = 120
const MAX_ACCOUNT_LENGTH = 254

const SIX_DIGITS = /^\d{6}$/

/** Allows for six digits plus spaces. */
const MAX_TYPED_LENGTH = 32

/** A new authenticator secret: 160 random bits as 32 characters of base32. */
export const newTotpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32

/**
 * At most about 600 characters: long names are cut, and invisible characters and colons, which end
 * the issuer, removed. https://github.com/google/google-authenticator/wiki/Key-Uri-Format
 */
export const totpUri = (of: { secret: string; issuer: string; account: string }): string =>
  new TOTP({
    ...SETTINGS,
    secret: of.secret,
    issuer: plainName(of.issuer, MAX_ISSUER_LENGTH),
    label: plainName(of.account, MAX_ACCOUNT_LENGTH),
  }).toString()

/**
 * The matching time step, within one of `now` (milliseconds) and after `after`, the last accepted
 * (RFC 6238 section 5.2), or undefined. Ignores spaces. Throws if `secret` is not base32.
 */
export function matchTotp({
  secret,
  code,
  now,
  after,
}: {
  secret: string
  code: string
  now: number
  after: number | null
}): number | undefined {
  const token = code.length > MAX_TYPED_LENGTH ? '' : code.replace(/\s/g, '')
  if (!SIX_DIGITS.test(token)) return undefined

  const totp = new TOTP({ ...SETTINGS, secret })
  const stepsAway = totp.validate({ token, timestamp: now, window: STEPS_APART })
  if (stepsAway === null) return undefined
  const step = totp.counter({ timestamp: now }) + stepsAway
  return after === null || step > after ? step : undefined
}

/** A name on one line, without colons, that takes at most `longest` characters in a URI. */
function plainName(name: string, longest: number): string {
  let kept = ''
  let left = longest
  for (const character of name.replace(/[\p{C}\p{Z}:]+/gu, ' ').trim()) {
    left -= encodeURIComponent(character).length
    if (left < 0) break
    kept += character
  }
  return kept.trimEnd()
}
