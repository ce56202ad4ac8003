import { describe, expect, test } from 'bun:test'
import { startCedar } from '../../../../../src/engines/gate/authorization/policy/cedar.ts'
import {
  createEngine,
  EngineFailure,
} from '../../../../../src/engines/gate/authorization/policy/engine.ts'
import { createPdp } from '../../../../../src/engines/gate/authorization/policy/pdp.ts'
import { createPolicyCache } from '../../../../../src/engines/gate/authorization/policy/policy-cache.ts'
import { person, question, TENANT } from './support.ts'

const ALL = 'permit (principal, action, resource);'
const NOBODY = 'forbid (principal, action, resource);'
const MB = 1024 * 1024

const uid = (type: string) => ({ type, id: 'x' })
const call = (preparsedPolicySetId: string) => ({
  principal: uid('A'),
  action: uid('Action'),
  resource: uid('B'),
  context: {},
  entities: [],
  preparsedPolicySetId,
})
/** More levels than there is stack for, which no text of a tenant gets to. */
const TOO_DEEP = `permit (principal, action, resource) when { ${Array(5000).fill('1==1').join('&&')} };`

describe('the engine', () => {
  test('starts with the first piece of work', () => {
    const engine = createEngine({ mostMemory: MB * 64 })

    expect(engine.isStarted()).toBe(false)
    expect(engine.run((cedar) => cedar.keep('s', { all: ALL }))).toEqual({ type: 'success' })
    expect(engine.isStarted()).toBe(true)
  })

  test('that runs out of stack is replaced, and what it kept is gone', () => {
    const engine = createEngine({ mostMemory: MB * 64 })
    engine.run((cedar) => cedar.keep('all', { all: ALL }))
    expect(engine.run((cedar) => cedar.keep('deep', { deep: TOO_DEEP }).type)).toBe('success')

    expect(() => engine.run((cedar) => cedar.ask(call('deep')))).toThrow(EngineFailure)

    expect(engine.generation()).toBe(1)
    expect(engine.run((cedar) => cedar.ask(call('all')))).toMatchObject({
      type: 'failure',
      errors: [{ message: "preparsed policy set 'all' not found" }],
    })
    engine.run((cedar) => cedar.keep('all', { all: ALL }))
    expect(engine.run((cedar) => cedar.ask(call('all')))).toMatchObject({
      response: { decision: 'allow' },
    })
  })

  test('is replaced as often as it takes, without growing', () => {
    const engine = createEngine({ mostMemory: MB * 64 })

    for (let time = 0; time < 30; time++) {
      engine.run((cedar) => cedar.keep('deep', { deep: TOO_DEEP }))
      expect(() => engine.run((cedar) => cedar.ask(call('deep')))).toThrow(EngineFailure)
    }

    expect(engine.run((cedar) => cedar.keep('s', { all: ALL }).type)).toBe('success')
  })

  test('that has grown beyond its bound is replaced once it has answered', () => {
    const engine = createEngine({ mostMemory: startCedar().memory() })
    const text = `permit (principal, action in [${Array(20_000).fill('Action::"x"').join(',')}], resource);`

    expect(engine.run((cedar) => cedar.keep('s', { large: text }).type)).toBe('success')

    expect(engine.isStarted()).toBe(false)
    expect(engine.generation()).toBe(1)
  })
})

describe('a decision that the engine gives up on', () => {
  const no = {
    allowed: false,
    policies: [],
    reason: 'the policies could not be evaluated; access is denied',
  }
  // Half a character is nothing that a question can have once it has been checked.
  const broken = { ...question(), principal: person({ id: '\ud800' }) }

  test('is no, and so is each of those policies from then on, until there is another version', () => {
    const pdp = createPdp()
    const custom = { tenantId: TENANT, version: 1, text: ALL }
    expect(pdp.decide(question(), custom).allowed).toBe(true)

    expect(pdp.decide(broken, custom)).toEqual(no)

    expect(pdp.decide(question(), custom)).toEqual(no)
    expect(pdp.decide(question(), { ...custom, version: 2 }).allowed).toBe(true)
  })

  test('is no for its tenant alone: another is answered by a fresh engine', () => {
    const pdp = createPdp()
    const custom = { tenantId: 'other', version: 1, text: ALL }
    expect(pdp.decide(question({ tenantId: 'other' }), custom).allowed).toBe(true)

    expect(pdp.decide(broken, { ...custom, tenantId: TENANT })).toEqual(no)

    expect(pdp.decide(question({ tenantId: 'other' }), custom).allowed).toBe(true)
  })

  test('is no when the question cannot be understood', () => {
    const odd = { ...question(), context: { a: null } }

    expect(createPdp().decide(odd, { tenantId: TENANT, version: 1, text: ALL })).toMatchObject({
      allowed: false,
      reason: expect.stringMatching(
        /^the request cannot be evaluated: .+`null`.+; access is denied$/,
      ),
    })
  })
})

describe('policies that stay parsed', () => {
  const ask = (
    pdp: ReturnType<typeof createPdp>,
    tenantId: string,
    version: number,
    text: string,
  ) => pdp.decide(question({ tenantId }), { tenantId, version, text }).allowed

  test('are used in their new version at once, and in the old one when that comes back', () => {
    const pdp = createPdp()

    expect(ask(pdp, 'a', 1, ALL)).toBe(true)
    expect(ask(pdp, 'a', 2, NOBODY)).toBe(false)
    expect(ask(pdp, 'a', 1, ALL)).toBe(true)
    expect(ask(pdp, 'a', 1, NOBODY)).toBe(false)
  })

  test('are never those of another tenant, under the same version and in a reused place', () => {
    const pdp = createPdp({ mostSets: 3 })
    const textOf = (n: number) => (n % 2 === 0 ? ALL : NOBODY)

    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 10; n++) expect(ask(pdp, `t${n}`, 1, textOf(n))).toBe(n % 2 === 0)
      for (let n = 9; n >= 0; n--) expect(ask(pdp, `t${n}`, 1, textOf(n))).toBe(n % 2 === 0)
    }
  })

  test('that cannot be read are read once, and again in a new version', () => {
    const pdp = createPdp()

    expect(ask(pdp, 'a', 1, 'permit (')).toBe(false)
    expect(ask(pdp, 'a', 1, 'permit (')).toBe(false)
    expect(ask(pdp, 'a', 2, ALL)).toBe(true)
  })
})

describe('the sets that an engine holds', () => {
  const set = (tenantId: string, text = ALL) => ({
    tenantId,
    policies: [{ name: 'p', effect: 'permit' as const, text, readsMetadata: false }],
  })
  /** Counts what is parsed, and remembers what is under each name. */
  function countingCedar() {
    const cedar = startCedar()
    const slots = new Map<string, number>()
    let parsed = 0
    return {
      cedar: {
        ...cedar,
        keep: (name: string, policies: Record<string, string>) => {
          const count = Object.keys(policies).length
          parsed += count
          slots.set(name, count)
          return cedar.keep(name, policies)
        },
      },
      parsed: () => parsed,
      held: () => [...slots.values()].filter((count) => count > 0).length,
      slots: () => slots.size,
    }
  }

  test('are parsed once each, as long as there is room', () => {
    const { cedar, parsed } = countingCedar()
    const kept = createPolicyCache({ mostSets: 2, mostText: 1000 })
    const [a, b, c] = [set('a'), set('b'), set('c')]

    for (const each of [a, b, a, b, a]) kept.slotOf(cedar, each, 0)
    expect(parsed()).toBe(2)

    kept.slotOf(cedar, c, 0)
    kept.slotOf(cedar, a, 0)
    expect(parsed()).toBe(3)
    kept.slotOf(cedar, b, 0)
    expect(parsed()).toBe(4)
  })

  test('are no more than allowed, nor is their text, in a number of places that stays', () => {
    const { cedar, held, slots } = countingCedar()
    const kept = createPolicyCache({ mostSets: 5, mostText: 4 * ALL.length })

    for (let n = 0; n < 100; n++) kept.slotOf(cedar, set(`t${n % 13}`), 0)

    expect(kept.count()).toBe(4)
    expect(held()).toBe(4)
    expect(slots()).toBeLessThanOrEqual(5)

    kept.slotOf(cedar, set('large', ALL + ' '.repeat(1000)), 0)
    expect(kept.count()).toBe(1)
    expect(held()).toBe(1)
  })

  test('are parsed anew by an engine that has taken the place of another', () => {
    const { cedar, parsed } = countingCedar()
    const kept = createPolicyCache({ mostSets: 2, mostText: 1000 })
    const a = set('a')

    kept.slotOf(cedar, a, 0)
    kept.slotOf(cedar, a, 1)
    kept.slotOf(cedar, a, 1)

    expect(parsed()).toBe(2)
  })
})
