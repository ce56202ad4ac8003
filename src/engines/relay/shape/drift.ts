import type { Shape } from './shape.ts'
import { newTypes, typeWords } from './types.ts'

/** One difference between a payload and all earlier ones. */
export interface Drift {
  /** `customer.address.zip`, `items[].price`, or `prices.*` for the values of a map. */
  path: string
  change: 'added' | 'missing' | 'retyped'
  /** The types seen before, such as `string or null`. */
  was?: string
  /** The new types. */
  now?: string
  /** Whether it may break a subscriber that relies on earlier payloads. */
  breaking: boolean
}

/** Changes recorded per payload; breaking changes come first. */
const MAX_DRIFT = 100

/** In characters; longer paths are cut. */
const MAX_PATH_LENGTH = 500

/** Keys that are written unquoted. All others are quoted, so that paths are unambiguous. */
const PLAIN_KEY = /^[\p{L}\p{N}_$@-]+$/u

/**
 * Omits the inside of new properties, of nodes that were no object or array before, and of arrays
 * that were always empty: subscribers couldn't rely on them. `next` grew out of `known`.
 */
export function driftBetween(known: Shape, next: Shape): Drift[] {
  const drift: Drift[] = []
  compare(known, next, '', drift)
  return drift
    .toSorted((one, other) => Number(other.breaking) - Number(one.breaking))
    .slice(0, MAX_DRIFT)
}

function compare(known: Shape, next: Shape, path: string, drift: Drift[]) {
  const fresh = newTypes(known.types, next.types)
  if (fresh !== 0) {
    const [was, now] = [typeWords(known.types), typeWords(fresh)]
    drift.push({ path: shown(path), change: 'retyped', was, now, breaking: true })
  }
  if (known.items && next.items) compare(known.items, next.items, `${path}[]`, drift)
  if (known.values && next.values) compare(known.values, next.values, joined(path, '*'), drift)
  if (known.properties && next.properties) {
    compareProperties(known.properties, next.properties, path, drift)
  }
}

function compareProperties(
  known: Readonly<Record<string, Shape>>,
  next: Readonly<Record<string, Shape>>,
  parent: string,
  drift: Drift[],
) {
  for (const key in next) {
    const path = PLAIN_KEY.test(key) ? joined(parent, key) : `${parent}[${JSON.stringify(key)}]`
    const [before, after] = [known[key], next[key] as Shape]
    if (before === undefined) {
      const now = typeWords(after.types)
      drift.push({ path: shown(path), change: 'added', now, breaking: false })
      continue
    }
    if (after.optional && !before.optional) {
      const was = typeWords(before.types)
      drift.push({ path: shown(path), change: 'missing', was, breaking: true })
    }
    compare(before, after, path, drift)
  }
}

const joined = (parent: string, key: string) => (parent === '' ? key : `${parent}.${key}`)

const shown = (path: string) =>
  path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH - 1)}…` : path
