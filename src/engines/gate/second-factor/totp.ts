import { Secret, TOTP } from 'otpauth'

/** What every authenticator can do; many look at nothing else, whatever the URI says. */
const SETTINGS = { algorithm: 'SHA1', digits: 6, period: 30 }

/** RFC 4226 section 4, requirement 6. */
const SECRET_BYTES = 20

/** RFC 6238 section 5.2: clocks may be apart by a step, and people need time to type. */
const STEPS_APART = 1

/**
 * Characters of a URI that a name may take up, at nine for one of Chinese and three for a blank.
 * All of it has to be in a picture that a phone can read, and the issuer is in it twice.
 */
const LONGEST_ISSUER = 120
const LONGEST_ACCOUNT = 254

const SIX_DIGITS = /^\d{6}$/

/** Enough for six digits and the blanks that people put between them. */
const LONGEST_TYPED = 32

/** A secret for one authenticator: 160 random bits as 32 characters of base32. */
export const newTotpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32

/**
 * What an authenticator reads from the QR code, at most some 600 characters. A colon would end
 * the issuer, so names lose theirs, and whatever cannot be seen; long ones lose their ends.
 * Source: https://github.com/google/google-authenticator/wiki/Key-Uri-Format
 */
export const totpUri = (of: { secret: string; issuer: string; account: string }): string =>
  new TOTP({
    ...SETTINGS,
    secret: of.secret,
    issuer: plainName(of.issuer, LONGEST_ISSUER),
    label: plainName(of.account, LONGEST_ACCOUNT),
  }).toString()

/**
 * The time step that `code` is of: within one of `now`, in milliseconds, and later than `after`,
 * the step of the code that was accepted last (RFC 6238 section 5.2: none is good twice).
 * Undefined for every other code. Blanks in it do not count. Throws when `secret` is not base32.
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
  const token = code.length > LONGEST_TYPED ? '' : code.replace(/\s/g, '')
  if (!SIX_DIGITS.test(token)) return undefined

  const totp = new TOTP({ ...SETTINGS, secret })
  const stepsAway = totp.validate({ token, timestamp: now, window: STEPS_APART })
  if (stepsAway === null) return undefined
  const step = totp.counter({ timestamp: now }) + stepsAway
  return after === null || step > after ? step : undefined
}

/** One line without colons that takes no more than `longest` characters of a URI. */
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
