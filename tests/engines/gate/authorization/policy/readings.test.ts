import { describe, expect, test } from 'bun:test'
import {
  createEngine,
  type Engine,
} from '../../../../../src/engines/gate/authorization/policy/engine.ts'
import { createReadings } from '../../../../../src/engines/gate/authorization/policy/readings.ts'
import { refusalOf, TENANT } from './support.ts'

const ALL = 'permit (principal, action, resource);'
const NOBODY = 'forbid (principal, action, resource);'

/** With the number of times that the engine had something to do. */
function countedReadings({ most = 10 } = {}) {
  const engine = createEngine({ mostMemory: 64 * 1024 * 1024 })
  let runs = 0
  const drafts: Engine = {
    ...engine,
    run: (work) => {
      runs++
      return engine.run(work)
    },
  }
  return { ...createReadings({ drafts, most }), runs: () => runs }
}

const custom = (text: string, version = 1, tenantId = TENANT) => ({ tenantId, version, text })

describe('a text of policies is read', () => {
  test('once, when it is checked: the next question finds it', () => {
    const { check, readingOf, runs } = countedReadings()
    const policies = check(ALL)
    const before = runs()

    expect(readingOf(custom(ALL))).toEqual({ set: { tenantId: TENANT, policies: [...policies] } })
    expect(check(ALL)).toEqual(policies)

    expect(before).toBeGreaterThan(0)
    expect(runs()).toBe(before)
  })

  test('once a version, and stands for it', () => {
    const { readingOf, runs } = countedReadings()
    const reading = readingOf(custom(ALL))
    const before = runs()

    expect(readingOf(custom(ALL))).toBe(reading)
    expect(runs()).toBe(before)
    expect(readingOf(custom(ALL, 2))).not.toBe(reading)
    expect(readingOf(custom(NOBODY, 2))).toMatchObject({
      set: { policies: [{ effect: 'forbid' }] },
    })
  })

  test('for each tenant by itself, also when it is the same text', () => {
    const { readingOf } = countedReadings()

    expect(readingOf(custom(ALL, 1, 'a'))).toMatchObject({ set: { tenantId: 'a' } })
    expect(readingOf(custom(ALL, 1, 'b'))).toMatchObject({ set: { tenantId: 'b' } })
  })

  test('again when many others have been read since', () => {
    const { check, readingOf, runs } = countedReadings({ most: 2 })
    readingOf(custom(ALL))
    for (let n = 0; n < 20; n++) check(`${ALL} // ${n}`)
    readingOf(custom(NOBODY, 1, 'a'))
    readingOf(custom(NOBODY, 1, 'b'))
    const before = runs()

    readingOf(custom(ALL))

    expect(runs()).toBeGreaterThan(before)
  })

  test('once when it is unusable, and refused each time that it is checked', () => {
    const { check, readingOf, runs } = countedReadings()
    const problem = refusalOf(() => check('permit ('))

    expect(readingOf(custom('permit ('))).toEqual({ problem: `unusable ${problem}` })
    const before = runs()
    expect(readingOf(custom('permit ('))).toEqual({ problem: `unusable ${problem}` })

    expect(runs()).toBe(before)
    expect(refusalOf(() => check('permit ('))).toBe(problem)
  })

  test('no more once it is given up, until there is another version', () => {
    const { readingOf, giveUp } = countedReadings()
    readingOf(custom(ALL))

    giveUp(custom(ALL), 'too much')

    expect(readingOf(custom(ALL))).toEqual({ problem: 'too much' })
    expect(readingOf(custom(ALL, 2))).toMatchObject({ set: { tenantId: TENANT } })
  })
})
