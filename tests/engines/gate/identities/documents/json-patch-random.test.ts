import { expect, test } from 'bun:test'
import type { Json, JsonObject } from '../../../../../src/engines/gate/identities/documents/json.ts'
import {
  applyJsonPatch,
  type PatchRules,
} from '../../../../../src/engines/gate/identities/documents/json-patch.ts'
import { frozen, refusalOf, seeded } from './support.ts'

type Random = (below: number) => number

interface Step {
  op: string
  path: string
  from?: string
  value?: Json
}

const CASES = 3000

const ROOMY: PatchRules = {
  refusal: () => undefined,
  mostOperations: 200,
  mostBytes: 1_000_000,
  mostLevels: 64,
}

// The reference implementation: each step returns a new document, or undefined if it fails.

const decoded = (pointer: string): string[] =>
  pointer
    .slice(1)
    .split('/')
    .map((token) => token.replace(/~[01]/g, (two) => (two === '~0' ? '~' : '/')))

const itemNumber = (token: string): number =>
  String(Number.parseInt(token, 10)) === token && !token.startsWith('-') ? Number(token) : -1

const entriesOf = (value: Json | undefined): [string, Json][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : []

const found = (value: Json | undefined, tokens: string[]): Json | undefined =>
  tokens.reduce<Json | undefined>(
    (at, token) => entriesOf(at).find(([name]) => name === token)?.[1],
    value,
  )

/** The document with the container of the last token replaced by `change`. */
function rebuilt(
  value: Json | undefined,
  [token, ...rest]: string[],
  change: (container: Json, token: string) => Json | undefined,
): Json | undefined {
  if (value === undefined || token === undefined) return undefined
  if (rest.length === 0) return change(value, token)
  const inner = rebuilt(found(value, [token]), rest, change)
  if (inner === undefined) return undefined
  if (Array.isArray(value)) return value.map((item, index) => (`${index}` === token ? inner : item))
  return { ...(value as JsonObject), [token]: inner }
}

const inserted = (document: Json | undefined, path: string[], value: Json) =>
  rebuilt(document, path, (container, token) => {
    if (Array.isArray(container)) {
      const at = token === '-' ? container.length : itemNumber(token)
      if (at < 0 || at > container.length) return undefined
      return [...container.slice(0, at), value, ...container.slice(at)]
    }
    return typeof container === 'object' && container !== null
      ? { ...container, [token]: value }
      : undefined
  })

const removed = (document: Json, path: string[]) =>
  rebuilt(document, path, (container, token) => {
    if (found(container, [token]) === undefined) return undefined
    if (Array.isArray(container)) return container.filter((_, index) => `${index}` !== token)
    return Object.fromEntries(entriesOf(container).filter(([name]) => name !== token))
  })

const replaced = (document: Json, path: string[], value: Json) =>
  found(document, path) === undefined
    ? undefined
    : rebuilt(document, path, (container, token) =>
        Array.isArray(container)
          ? container.map((item, index) => (`${index}` === token ? value : item))
          : { ...(container as JsonObject), [token]: value },
      )

function moved(document: Json, from: string[], path: string[]) {
  const value = found(document, from)
  const isInside = path.length > from.length && from.every((token, i) => path[i] === token)
  if (value === undefined || isInside) return undefined
  return inserted(removed(document, from), path, value)
}

function copied(document: Json, from: string[], path: string[]) {
  const value = found(document, from)
  return value === undefined ? undefined : inserted(document, path, value)
}

function stepped(document: Json, { op, path, from = '', value = null }: Step): Json | undefined {
  const to = decoded(path)
  if (op === 'add') return inserted(document, to, value)
  if (op === 'remove') return removed(document, to)
  if (op === 'replace') return replaced(document, to, value)
  if (op === 'move') return moved(document, decoded(from), to)
  if (op === 'copy') return copied(document, decoded(from), to)
  const there = found(document, to)
  return there !== undefined && Bun.deepEquals(there, value) ? document : undefined
}

// The random input of both.

const NAMES = [
  'a',
  'b',
  'c',
  '',
  '0',
  '1',
  '01',
  '-',
  'a/b',
  'm~n',
  '~1',
  'é',
  'length',
  'constructor',
  'toString',
  'prototype',
]
const SCALARS: Json[] = [null, true, false, 0, 1, -2.5, '', '0', 'text', 'é\n"', 9007199254740991]
const OPS = ['add', 'add', 'remove', 'replace', 'move', 'copy', 'test']

const oneOf = <T>(random: Random, items: readonly T[]): T => items[random(items.length)] as T

function randomValue(random: Random, levels: number): Json {
  if (levels === 0 || random(3) === 0) return oneOf(random, SCALARS)
  const items = Array.from({ length: random(5) }, () => randomValue(random, levels - 1))
  return random(2) === 0 ? items : objectOf(random, items)
}

const objectOf = (random: Random, values: Json[]): JsonObject =>
  Object.fromEntries(values.map((value) => [oneOf(random, NAMES), value]))

const encoded = (token: string) => token.replace(/[~/]/g, (c) => (c === '~' ? '~0' : '~1'))

/** Pointers to existing values, and to positions where a value can be added. */
function placesIn(value: Json, at = ''): { taken: string[]; free: string[] } {
  if (typeof value !== 'object' || value === null) return { taken: [], free: [] }
  const inner = entriesOf(value).map(([name, item]) => {
    const place = `${at}/${encoded(name)}`
    const { taken, free } = placesIn(item, place)
    return { taken: [place, ...taken], free }
  })
  const here = Array.isArray(value) ? [`${at}/-`, `${at}/${value.length}`] : [`${at}/new`]
  return {
    taken: inner.flatMap(({ taken }) => taken),
    free: [...here, ...inner.flatMap(({ free }) => free)],
  }
}

/** Usually a pointer for which the operation makes sense. */
function randomPlace(random: Random, places: string[]): string {
  const place = places.length === 0 ? '/a' : oneOf(random, places)
  return random(12) === 0 ? `${place}/${encoded(oneOf(random, NAMES))}` : place
}

function randomStep(random: Random, document: Json): Step {
  const { taken, free } = placesIn(document)
  const any = () => randomPlace(random, random(15) === 0 ? [...taken, ...free] : taken)
  const anyOrNew = () => randomPlace(random, [...taken, ...free])
  const op = oneOf(random, OPS)
  if (op === 'remove') return { op, path: any() }
  if (op === 'move' || op === 'copy') return { op, path: anyOrNew(), from: any() }
  const path = op === 'add' ? anyOrNew() : any()
  const there = found(document, decoded(path))
  const asIs = op === 'test' && there !== undefined && random(8) > 0
  return { op, path, value: asIs ? there : randomValue(random, 2) }
}

interface Case {
  document: JsonObject
  steps: Step[]
  /** The document after each step, up to the last one or the one that fails. */
  states: Json[]
  fails: boolean
}

function randomCase(random: Random): Case {
  const document = objectOf(
    random,
    Array.from({ length: 1 + random(5) }, () => randomValue(random, 3)),
  )
  const steps: Step[] = []
  const states: Json[] = [document]
  for (let left = 1 + random(6); left > 0; left--) {
    const state = states[states.length - 1] as Json
    const step = randomStep(random, state)
    const next = stepped(state, step)
    steps.push(step)
    if (next === undefined) return { document, steps, states, fails: true }
    states.push(next)
  }
  return { document, steps, states, fails: false }
}

const sizeOf = (value: Json) => Buffer.byteLength(JSON.stringify(value))

test(`${CASES} random patches have the same result as the reference implementation`, () => {
  const random = seeded(6902)
  const ended = { well: 0, badly: 0 }
  for (let round = 0; round < CASES; round++) {
    const { document, steps, states, fails } = frozen(randomCase(random))
    const refusal = refusalOf(() =>
      expect(applyJsonPatch(document, steps, ROOMY)).toEqual(
        states[states.length - 1] as JsonObject,
      ),
    )?.message
    if (fails) expect(refusal).toStartWith(`operation ${steps.length - 1} (${steps.at(-1)?.op} `)
    else expect(refusal).toBeUndefined()
    ended[fails ? 'badly' : 'well']++
  }
  // Both outcomes are common.
  expect(ended.well).toBeGreaterThan(CASES / 4)
  expect(ended.badly).toBeGreaterThan(CASES / 10)
})

const NO_ROOM = /would make the document larger than|copies and moves further down, more/

test(`${CASES} random patches stay within the size limit, and only that limit refuses them`, () => {
  const random = seeded(6901)
  const ended = { well: 0, badly: 0 }
  for (let round = 0; round < CASES; round++) {
    const { document, steps, states, fails } = randomCase(random)
    if (fails) continue
    const sizes = states.map(sizeOf)
    const largest = Math.max(...sizes)
    const mostBytes = Math.max(sizes[0] as number, 40) + random(100)
    const refusal = refusalOf(() =>
      applyJsonPatch(document, steps, { ...ROOMY, mostBytes }),
    )?.message
    if (refusal !== undefined || largest > mostBytes) expect(refusal).toMatch(NO_ROOM)
    // The size is exact to one byte per step.
    if (refusal?.includes('larger')) expect(largest).toBeGreaterThan(mostBytes - steps.length)
    ended[refusal === undefined ? 'well' : 'badly']++
  }
  expect(ended.well).toBeGreaterThan(CASES / 10)
  expect(ended.badly).toBeGreaterThan(CASES / 100)
})
