import { describe, expect, test } from 'bun:test'
import {
  createEngine,
  type Engine,
} from '../../../../../src/engines/gate/authorization/policy/engine.ts'
import { createParsedPolicies } from '../../../../../src/engines/gate/authorization/policy/parsed-policies.ts'
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
  return { ...createParsedPolicies({ drafts, most }), runs: () => runs }
}

const custom = (text: string, version = 1, tenantId = TENANT) => ({ tenantId, version, text })

describe('a text of policies is read', () => {
  test('once, when it is checked: the next question finds it', () => {
    const { check, parsedOf, runs } = countedReadings()
    const policies = check(ALL)
    const before = runs()

    expect(parsedOf(custom(ALL))).toEqual({ set: { tenantId: TENANT, policies: [...policies] } })
    expect(check(ALL)).toEqual(policies)

    expect(before).toBeGreaterThan(0)
    expect(runs()).toBe(before)
  })

  test('once a version, and stands for it', () => {
    const { parsedOf, runs } = countedReadings()
    const result = parsedOf(custom(ALL))
    const before = runs()

    expect(parsedOf(custom(ALL))).toBe(result)
    expect(runs()).toBe(before)
    expect(parsedOf(custom(ALL, 2))).not.toBe(result)
    expect(parsedOf(custom(NOBODY, 2))).toMatchObject({ set: { policies: [{ effect: 'forbid' }] } })
  })

  test('for each tenant by itself, also when it is the same text', () => {
    const { parsedOf } = countedReadings()

    expect(parsedOf(custom(ALL, 1, 'a'))).toMatchObject({ set: { tenantId: 'a' } })
    expect(parsedOf(custom(ALL, 1, 'b'))).toMatchObject({ set: { tenantId: 'b' } })
  })

  test('again when many others have been read since', () => {
    const { check, parsedOf, runs } = countedReadings({ most: 2 })
    parsedOf(custom(ALL))
    for (let n = 0; n < 20; n++) check(`${ALL} // ${n}`)
    parsedOf(custom(NOBODY, 1, 'a'))
    parsedOf(custom(NOBODY, 1, 'b'))
    const before = runs()

    parsedOf(custom(ALL))

    expect(runs()).toBeGreaterThan(before)
  })

  test('once when it is unusable, and refused each time that it is checked', () => {
    const { check, parsedOf, runs } = countedReadings()
    const problem = refusalOf(() => check('permit ('))

    expect(parsedOf(custom('permit ('))).toEqual({ problem: `unusable ${problem}` })
    const before = runs()
    expect(parsedOf(custom('permit ('))).toEqual({ problem: `unusable ${problem}` })

    expect(runs()).toBe(before)
    expect(refusalOf(() => check('permit ('))).toBe(problem)
  })

  test('no more once it is given up, until there is another version', () => {
    const { parsedOf, giveUp } = countedReadings()
    parsedOf(custom(ALL))

    giveUp(custom(ALL), 'too much')

    expect(parsedOf(custom(ALL))).toEqual({ problem: 'too much' })
    expect(parsedOf(custom(ALL, 2))).toMatchObject({ set: { tenantId: TENANT } })
  })
})
