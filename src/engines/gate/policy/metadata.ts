import type { CedarValueJson } from '@cedar-policy/cedar-wasm/web'
import { isJsonObject, type Json, type JsonObject, jsonBytes } from '../documents/json.ts'
import { RESERVED_MEMBERS } from './context.ts'

/** In bytes of its JSON, as policies are handed it: decisions have to stay quick. */
const LARGEST = 16_384

/** The metadata itself being the first. */
const MOST_LEVELS = 16

type Held = Record<string, CedarValueJson>

/**
 * An identity's metadata in terms of policies: all of it, or why they cannot look at it. If a
 * part was left out, one that forbids might miss what it is about.
 */
export function metadataForPolicies(metadata: JsonObject): { held: Held } | { problem: string } {
  if (jsonBytes(metadata) > LARGEST) return problem(TOO_LARGE)
  const flaw = flawIn(metadata, 1)
  if (flaw !== undefined) return problem(flaw)
  const held = heldMembers(metadata)
  return Buffer.byteLength(JSON.stringify(held)) > LARGEST ? problem(TOO_ODD) : { held }
}

const problem = (flaw: string) => ({ problem: `the subject's metadata_public ${flaw}` })

const TOO_LARGE = `is larger than ${LARGEST / 1024} KB, more than policies can look at`
const TOO_ODD = 'has more nulls, fractions and the like than policies can look at'

function flawIn(value: Json, level: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (level > MOST_LEVELS) {
    return `is nested deeper than ${MOST_LEVELS} levels, deeper than policies can look`
  }
  const names = Array.isArray(value) ? [] : Object.keys(value)
  return firstOf(names, flawOfName) ?? firstOf(Object.values(value), (v) => flawIn(v, level + 1))
}

function flawOfName(name: string): string | undefined {
  if (RESERVED_MEMBERS.has(name)) return `has a member ${name}, a name that policies cannot hold`
  return name.isWellFormed() ? undefined : 'has a member whose name is not Unicode text'
}

function firstOf<T>(items: readonly T[], flawOf: (item: T) => string | undefined) {
  for (const item of items) {
    const flaw = flawOf(item)
    if (flaw !== undefined) return flaw
  }
  return undefined
}

const heldMembers = (members: JsonObject): Held =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, held(value)]))

function held(value: Json): CedarValueJson {
  if (Array.isArray(value)) return value.map(held)
  if (isJsonObject(value)) return heldMembers(value)
  return isKnown(value) ? value : unsupported(value)
}

const isKnown = (value: null | boolean | number | string): value is boolean | number | string =>
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isSafeInteger(value)) ||
  (typeof value === 'string' && value.isWellFormed())

/**
 * What Cedar has no value for: a reference that equals nothing but the same, and cannot be
 * compared. No resource is of this type, as theirs begin with a capital.
 */
const unsupported = (value: null | boolean | number | string): CedarValueJson => ({
  __entity: { type: 'unsupported', id: JSON.stringify(value) },
})
