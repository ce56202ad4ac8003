import { expect, test } from 'bun:test'
import { startCedar } from '../../../../../src/engines/gate/authorization/policy/cedar.ts'
import {
  createEngine,
  type Engine,
  EngineFailure,
} from '../../../../../src/engines/gate/authorization/policy/engine.ts'
import { createParsedPolicies } from '../../../../../src/engines/gate/authorization/policy/parsed-policies.ts'
import { createPdp } from '../../../../../src/engines/gate/authorization/policy/pdp.ts'
import { createPolicyCache } from '../../../../../src/engines/gate/authorization/policy/policy-cache.ts'
import { textsOf } from '../../../../../src/engines/gate/authorization/policy/policy-texts.ts'
import { refusalOf } from '../../identities/documents/support.ts'
import { FORBID, PERMIT, permitWhen, person, question, TENANT } from './support.ts'

const MB = 1024 * 1024
const uid = (type: string) => ({ type, id: 'x' })
const call = (preparsedPolicySetId: string) => ({
  ...{ principal: uid('A'), action: uid('Action'), resource: uid('B') },
  ...{ context: {}, entities: [], preparsedPolicySetId },
})

test('An engine that runs out of stack is replaced, without its policies', () => {
  const engine = createEngine({ mostMemory: 64 * MB })
  expect(engine.isStarted()).toBe(false)
  // More levels than the check of texts lets through.
  const deep = permitWhen(Array(500).fill('1==1').join('&&'))
  for (const generation of [0, 1]) {
    expect(engine.generation()).toBe(generation)
    expect(engine.run((cedar) => cedar.keep('all', { PERMIT }).type)).toBe('success')
    expect(engine.run((cedar) => cedar.keep('deep', { deep }).type)).toBe('success')
    expect(engine.run((cedar) => cedar.ask(call('all')))).toMatchObject({ type: 'success' })
    expect(() => engine.run((cedar) => cedar.ask(call('deep')))).toThrow(EngineFailure)
  }
  const message = "preparsed policy set 'all' not found"
  expect(engine.run((cedar) => cedar.ask(call('all')))).toMatchObject({ errors: [{ message }] })
})

test('An engine that has grown beyond its bound is replaced after its answer', () => {
  const engine = createEngine({ mostMemory: startCedar().memory() })
  const large = `permit (principal, action in [${Array(100).fill('Action::"x"')}], resource);`
  expect(engine.run((cedar) => cedar.memory())).toBeGreaterThan(0)
  expect([engine.isStarted(), engine.generation()]).toEqual([true, 0])
  expect(engine.run((cedar) => cedar.keep('s', { large }).type)).toBe('success')
  expect([engine.isStarted(), engine.generation()]).toEqual([false, 1])
})

test('Policies that the engine fails on deny until their next version, for one tenant', () => {
  const pdp = createPdp()
  const custom = { tenantId: TENANT, version: 1, text: permitWhen('principal.id != ""') }
  const other = { ...custom, tenantId: 'other' }
  const isOtherAllowed = () => pdp.decide(question({ tenantId: 'other' }), other).allowed
  expect(pdp.decide(question(), custom).allowed).toBe(true)
  expect(isOtherAllowed()).toBe(true)

  const reason = 'the policies could not be evaluated; access is denied'
  const no = { allowed: false, policies: [], reason }
  // Half a character, which a checked question cannot have.
  const broken = { ...question(), principal: person({ id: '\ud800' }) }
  expect(pdp.decide(broken, custom)).toEqual(no)
  expect(pdp.decide(question(), custom)).toEqual(no)
  expect(pdp.decide(question(), { ...custom, version: 2 }).allowed).toBe(true)
  expect(isOtherAllowed()).toBe(true)

  const odd = pdp.decide({ ...question(), context: { a: null } }, { ...custom, version: 3 })
  expect(odd.allowed).toBe(false)
  expect(odd.reason).toMatch(/^the request cannot be evaluated: .+`null`.+; access is denied$/)
})

test('Cached policies are those of their tenant, version and text', () => {
  const pdp = createPdp({ mostSets: 3 })
  const isAllowed = (tenantId: string, version: number, text: string) =>
    pdp.decide(question({ tenantId }), { tenantId, version, text }).allowed
  for (const [version, text, expected] of [
    [1, PERMIT, true],
    [2, FORBID, false],
    [1, PERMIT, true],
    [1, FORBID, false],
    [3, 'permit (', false],
    [3, 'permit (', false],
    [4, PERMIT, true],
  ] as const)
    expect(isAllowed('a', version, text)).toBe(expected)
  for (const n of [0, 1, 2, 3, 2, 1, 0])
    expect(isAllowed(`t${n}`, 1, n % 2 === 0 ? PERMIT : FORBID)).toBe(n % 2 === 0)
})

test('Policies stay parsed while there is room for groups and text', () => {
  const cedar = startCedar()
  const slots = new Map<string, number>()
  let parsed = 0
  const keep = (name: string, policies: Record<string, string>) => {
    slots.set(name, Object.keys(policies).length)
    parsed += slots.get(name) ?? 0
    return cedar.keep(name, policies)
  }
  const policies = (text = PERMIT) => textsOf([['p', text]])
  const held = () => [...slots.values()].filter((count) => count > 0).length

  const small = createPolicyCache({ most: 2, mostText: 1000 })
  const [a, b, c] = [policies(), policies(), policies()]
  const parsedAfter = (texts: typeof a, generation = 0) => {
    small.slotOf({ ...cedar, keep }, texts, generation)
    return parsed
  }
  expect([a, b, a, b, a, c, a, b].map((set) => parsedAfter(set))).toEqual([1, 2, 2, 2, 2, 3, 3, 4])
  expect([parsedAfter(b, 1), parsedAfter(b, 1)]).toEqual([5, 5])

  slots.clear()
  const kept = createPolicyCache({ most: 5, mostText: 4 * PERMIT.length })
  const seven = Array.from({ length: 7 }, () => policies())
  for (const texts of [...seven, ...seven]) kept.slotOf({ ...cedar, keep }, texts, 0)
  expect([kept.count(), held()]).toEqual([4, 4])
  expect(slots.size).toBeLessThanOrEqual(5)
  kept.slotOf({ ...cedar, keep }, policies(PERMIT + ' '.repeat(1000)), 0)
  expect([kept.count(), held()]).toEqual([1, 1])
})

test('A text is parsed once per version, unless many others came since', () => {
  const engine = createEngine({ mostMemory: 64 * MB })
  let runs = 0
  const run: Engine['run'] = (work) => {
    runs++
    return engine.run(work)
  }
  const { check, parsedOf, giveUp } = createParsedPolicies({ drafts: { ...engine, run }, most: 2 })
  const custom = (text: string, version = 1, tenantId = TENANT) => ({ tenantId, version, text })
  /** Whether the engine runs during the work. */
  const parses = (work: () => unknown) => {
    const before = runs
    work()
    return runs > before
  }
  expect(parses(() => check(PERMIT))).toBe(true)
  const result = parsedOf(custom(PERMIT))
  expect(parses(() => [parsedOf(custom(PERMIT)), check(PERMIT)])).toBe(false)
  expect(parsedOf(custom(PERMIT))).toBe(result)
  expect(result).toMatchObject({
    set: { tenantId: TENANT, all: { texts: { 'policy 1': PERMIT } } },
  })
  expect(parsedOf(custom(PERMIT, 2))).not.toBe(result)
  expect(parsedOf(custom(FORBID, 2))).toMatchObject({
    set: { all: { texts: { 'policy 1': FORBID } } },
  })

  const problem = `unusable ${refusalOf(() => check('permit ('))?.message}`
  expect(parsedOf(custom('permit (', 3))).toEqual({ problem })
  expect(parses(() => parsedOf(custom('permit (', 3)))).toBe(false)
  giveUp(custom(PERMIT, 4), 'too much')
  expect(parsedOf(custom(PERMIT, 4))).toEqual({ problem: 'too much' })

  expect(parsedOf(custom(PERMIT, 5, 'b'))).toMatchObject({ set: { tenantId: 'b' } })
  for (let n = 0; n < 16; n++) check(`${PERMIT} // ${n}`)
  expect(parses(() => parsedOf(custom(PERMIT, 5, 'b')))).toBe(false)
  for (const tenantId of ['c', 'd']) parsedOf(custom(FORBID, 1, tenantId))
  expect(parses(() => parsedOf(custom(PERMIT, 5, 'b')))).toBe(true)
})
