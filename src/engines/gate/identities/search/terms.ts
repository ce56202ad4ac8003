import { sha256 } from '../../../../platform/crypto.ts'
import type { JsonObject } from '../documents/json.ts'
import type { IdentityRow, State } from '../store.ts'
import type { Traits } from '../traits.ts'

/** What the index has of an identity. */
export interface SearchEntry {
  seq: number
  scope: string
  state: State
  text: string
}

/** Length of the longest term, in characters. Longer words are found by all their parts. */
const LONGEST = 3
/** Parts of a word that are looked up. The text itself is compared in full. */
const MAX_PARTS = 12
const MAX_WORDS = 6

/** Names that apps commonly use for the name of a user. */
const WHOLE_NAMES = ['name', 'display_name', 'full_name']
const PARTS_OF_NAMES = [
  ['first_name', 'last_name'],
  ['given_name', 'family_name'],
]

/** The name of an identity: its display name, or what its custom data calls a name; or ''. */
export function nameIn({ display_name: displayName, custom_data: data = {} }: Traits): string {
  const textOf = (name: string) => textIn(data as JsonObject, name)
  const joined = (names: readonly string[]) => names.map(textOf).filter(Boolean).join(' ')
  const candidates = [displayName ?? '', ...WHOLE_NAMES.map(textOf), ...PARTS_OF_NAMES.map(joined)]
  return candidates.find((name) => name !== '')?.slice(0, 200) ?? ''
}

/** The member of custom data that is the whole name; undefined if the name consists of parts. */
export function nameMemberOf(data: JsonObject): string | undefined {
  const whole = WHOLE_NAMES.find((name) => textIn(data, name) !== '')
  const hasParts = PARTS_OF_NAMES.flat().some((name) => textIn(data, name) !== '')
  return whole ?? (hasParts ? undefined : 'name')
}

function textIn(data: JsonObject, name: string): string {
  const value: unknown = data[name]
  return typeof value === 'string' ? value.trim() : ''
}

export function entryOf({ seq, tenantId, state, email, traits }: IdentityRow): SearchEntry {
  const name = nameIn(JSON.parse(traits))
  return { seq, scope: scopeOf(tenantId), state, text: folded(`${email}\n${name}`) }
}

/** The words of a search, each of which is in the text of a match. */
export const wordsOf = (search: string): string[] =>
  folded(search).split(/\s+/).filter(Boolean).slice(0, MAX_WORDS)

/** The terms under which an entry is found: its state, and all parts of its text. */
export function termsOf({ scope, state, text }: Omit<SearchEntry, 'seq'>): string {
  const parts = new Set(Array.from({ length: LONGEST }, (_, n) => partsOf(text, n + 1)).flat())
  return [stateTerm(scope, state), ...[...parts].map((part) => scope + hex(part))].join(' ')
}

/** The terms that all matches have. */
export function queryOf(scope: string, state: State | undefined, words: readonly string[]): string {
  const parts = words.flatMap((word) =>
    partsOf(word, Math.min(LONGEST, [...word].length)).slice(0, MAX_PARTS),
  )
  const terms = [...new Set(parts)].map((part) => scope + hex(part))
  return [...(state ? [stateTerm(scope, state)] : []), ...terms].join(' ')
}

/** Begins all terms of a tenant, so that a search costs the same whatever other tenants store. */
export const scopeOf = (tenantId: string): string => sha256(tenantId).slice(0, 10)

/** No hexadecimal digit, so it is no part of a text. */
const stateTerm = (scope: string, state: State): string => `${scope}s${state}`

const hex = (text: string): string => Buffer.from(text).toString('hex')

/** All parts of a text that have `length` characters. */
function partsOf(text: string, length: number): string[] {
  const characters = [...text]
  return characters
    .slice(0, characters.length - length + 1)
    .map((_, start) => characters.slice(start, start + length).join(''))
}

/** Without case and accents: "zoe" finds Zoë. */
const folded = (text: string): string =>
  text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll('ς', 'σ')
