import { domainToASCII, domainToUnicode } from 'node:url'
import { invalid } from '../../../platform/errors.ts'

/** RFC 5321 section 4.5.3.1.3, less the angle brackets. */
const MAX_LENGTH = 254

/** The syntax that browsers accept (HTML, `type=email`), plus letters of all scripts (RFC 6531). */
const ADDRESS =
  /^[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?)*$/u

/** Invisible characters, which would make two addresses look the same. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}/u

/**
 * The normalized spelling of an address, used for storage and lookups. Throws `invalid` if the
 * text is not an address.
 */
export function normaliseEmail(text: string, field: string): string {
  const [name, domain] = apart(text)
  const email = foldName(name) + inOneScript(domain)
  if (Buffer.byteLength(email) > MAX_LENGTH)
    throw invalid(`must have at most ${MAX_LENGTH} bytes`, { field, rule: 'too_long' })
  if (!ADDRESS.test(email) || UNSEEN.test(email))
    throw invalid('must be an email address', { field, rule: 'format' })
  return email
}

/** The same normalization for any text, such as the beginning of an address. */
export function foldEmail(text: string): string {
  const [name, domain] = apart(text)
  return foldName(name) + fold(domain)
}

/** Splits an address before the `@`. The domain includes the `@` and is empty if there is none. */
function apart(text: string): [name: string, domain: string] {
  const trimmed = text.trim()
  const at = trimmed.lastIndexOf('@')
  return at === -1 ? [trimmed, ''] : [trimmed.slice(0, at), trimmed.slice(at)]
}

/** Composes last, because the capitals of some precomposed letters have two code points. */
const fold = (text: string): string => text.toLowerCase().normalize('NFC')

/** Merges the two lower-case sigmas, which share a capital. Domains distinguish them. */
const foldName = (name: string): string => fold(name).replaceAll('ς', 'σ')

const OTHER_THAN_ASCII = /[^\x20-\x7e]|xn--/

/** Converts an internationalized domain to ASCII, so that both spellings are the same address. */
function inOneScript(domain: string): string {
  const folded = fold(domain)
  if (!OTHER_THAN_ASCII.test(folded)) return folded
  const host = domainToUnicode(domainToASCII(domain.slice(1)))
  return host === '' ? folded : `@${host}`
}
