import { domainToASCII, domainToUnicode } from 'node:url'
import { invalid } from '../../platform/errors.ts'

/** RFC 5321 section 4.5.3.1.3, less the angle brackets. */
const LONGEST = 254

/**
 * What browsers take for an address (HTML, `type=email`), and letters of other scripts besides
 * (RFC 6531).
 */
const ADDRESS =
  /^[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?)*$/u

/** Characters that nobody would see a difference by. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}/u

/** An address in the one spelling that it is kept and looked for in; throws `invalid` without one. */
export function normaliseEmail(text: string, field: string): string {
  const [name, domain] = apart(text)
  const email = foldName(name) + inOneScript(domain)
  if (Buffer.byteLength(email) > LONGEST)
    throw invalid(`must have at most ${LONGEST} bytes`, { field, rule: 'too_long' })
  if (!ADDRESS.test(email) || UNSEEN.test(email))
    throw invalid('must be an email address', { field, rule: 'format' })
  return email
}

/** The same for any text, such as the beginning of an address. */
export function foldEmail(text: string): string {
  const [name, domain] = apart(text)
  return foldName(name) + fold(domain)
}

/** The domain with the sign before it; empty without one. */
function apart(text: string): [name: string, domain: string] {
  const trimmed = text.trim()
  const at = trimmed.lastIndexOf('@')
  return at === -1 ? [trimmed, ''] : [trimmed.slice(0, at), trimmed.slice(at)]
}

/** Composed last: there are letters in one piece of which the capitals are in two. */
const fold = (text: string): string => text.toLowerCase().normalize('NFC')

/**
 * Of the two small sigmas, one stands for both, as the capital does. Not so in domains, where they
 * make two of one.
 */
const foldName = (name: string): string => fold(name).replaceAll('ς', 'σ')

const OTHER_THAN_ASCII = /[^\x20-\x7e]|xn--/

/** A domain in another script is spelled in ASCII as well, and both are the same address. */
function inOneScript(domain: string): string {
  const folded = fold(domain)
  if (!OTHER_THAN_ASCII.test(folded)) return folded
  const host = domainToUnicode(domainToASCII(domain.slice(1)))
  return host === '' ? folded : `@${host}`
}
