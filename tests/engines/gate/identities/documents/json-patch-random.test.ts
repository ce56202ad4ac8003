import { expect, test } from 'bun:test'
import type { Json, JsonObject } from '../../../../../src/engines/gate/identities/documents/json.ts'
import {
  applyJsonPatch,
  type PatchRules,
} from '../../../../../src/engines/gate/identities/documents/json-patch.ts'
import { frozen, refusalOf, seeded } from './support.ts'

type Random = (below: number) => number

const CASES = 600
const ROOMY: PatchRules = {
  ...{ refusal: () => undefined, mostOperations: 200, mostBytes: 1_000_000, mostLevels: 64 },
}

const NAMES = [
  ...['a', 'b', 'c', '', '0', '1', '01', '-', 'a/b', 'm~n', '~1', 'é', 'length', 'constructor'],
  ...['toString', 'prototype'],
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

/** Pointers to all values, and to positions where a value can be added. */
function placesIn(value: Json, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([name, item]) => {
    const place = `${at}/${encoded(name)}`
    return [place, ...placesIn(item, place)]
  })
  return [
    ...(Array.isArray(value) ? [`${at}/-`, `${at}/${value.length}`] : [`${at}/new`]),
    ...inner,
  ]
}

function randomStep(random: Random, document: Json) {
  const place = () => oneOf(random, placesIn(document))
  const op = oneOf(random, OPS)
  return { op, path: place(), from: place(), value: randomValue(random, 2) }
}

/** A document and steps, with the document after each step that succeeds alone. */
function randomCase(random: Random) {
  const values = Array.from({ length: 1 + random(5) }, () => randomValue(random, 3))
  const states: JsonObject[] = [frozen(objectOf(random, values))]
  const steps: object[] = []
  for (let left = 3 + random(20); left > 0; left--) {
    const before = states.at(-1) as JsonObject
    const step = frozen(randomStep(random, before))
    if (refusalOf(() => states.push(frozen(applyJsonPatch(before, [step], ROOMY))))) continue
    steps.push(step)
  }
  return { states, steps }
}

test('A random patch has the same result as its operations one by one', () => {
  const random = seeded(6902)
  let count = 0
  for (let round = 0; round < CASES; round++) {
    const { states, steps } = randomCase(random)
    const [document, last] = [states[0], states.at(-1)] as [JsonObject, JsonObject]
    expect(applyJsonPatch(document, steps, ROOMY)).toEqual(last)
    count += steps.length
  }
  expect(count).toBeGreaterThan(2 * CASES)
})

test('A random patch stays within the size limit, and only that limit refuses it', () => {
  const random = seeded(6901)
  const ended = { well: 0, badly: 0 }
  for (let round = 0; round < CASES; round++) {
    const { states, steps } = randomCase(random)
    const sizes = states.map((state) => Buffer.byteLength(JSON.stringify(state)))
    const largest = Math.max(...sizes)
    const mostBytes = Math.max(sizes[0] as number, 40) + random(100)
    const rules = { ...ROOMY, mostBytes }
    const refusal = refusalOf(() => applyJsonPatch(states[0] as JsonObject, steps, rules))
    if (refusal || largest > mostBytes) expect(refusal?.rule).toBe('too_large')
    // The size is exact to one byte per step.
    if (refusal?.message.includes('larger'))
      expect(largest).toBeGreaterThan(mostBytes - steps.length)
    ended[refusal === undefined ? 'well' : 'badly']++
  }
  expect(ended.well).toBeGreaterThan(CASES / 10)
  expect(ended.badly).toBeGreaterThan(CASES / 100)
})
