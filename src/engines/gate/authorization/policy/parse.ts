import { isDeepStrictEqual } from 'node:util'
import type { DetailedError, PolicyJson } from '@cedar-policy/cedar-wasm/web'
import { AppError, type FieldError, type Rule } from '../../../../platform/errors.ts'
import { costOf, LIKE, MAX_LEVELS, type PolicyCost } from './cost.ts'
import { type Dependencies, dependenciesOf } from './dependencies.ts'
import { type Engine, EngineFailure } from './engine.ts'
import { shortened } from './policy-decision.ts'
import { textsOf } from './policy-texts.ts'
import { flawOfText, type Mistake, withoutScope } from './scan.ts'
import { type Scope, scopeOf } from './scope.ts'
import { at, type Position, positionOf, positionOfByte } from './text-position.ts'

/** A policy in the tenant's text, under the name that reasons use. */
export interface Policy {
  name: string
  effect: 'permit' | 'forbid'
  text: string
  scope: Scope
  /** Its text without the scope, which applies to everything. */
  unscoped: string
  dependencies: Dependencies
  /** Whether it may read an identity's metadata. */
  readsMetadata: boolean
}

const MAX_TEXT_BYTES = 32_768
const MAX_NAME_LENGTH = 100
const MAX_HEAVY = 100
const MAX_PATTERN_LENGTH = 512
const MAX_LITERAL_LENGTH = 1024

/** Parses policies. Throws `invalid` with all mistakes of the first kind found, one per line. */
export function parsePolicies(engine: Engine, text: string): Policy[] {
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) {
    throw refusal(`must be at most ${MAX_TEXT_BYTES / 1024} KB`, 'too_large')
  }
  if (!text.isWellFormed()) throw refusal('must be valid Unicode', 'characters')
  const flaw = flawOfText(text)
  if (flaw !== undefined) throw refusals([flaw])
  const found = located(text, inOrder(split(engine, text)))
  const read = understood(() => found.map(({ text }) => engine.run((c) => c.policyToJson(text))))
  const policies = found.map((policy, index) => {
    const answer = read[index]
    if (answer?.type !== 'success') throw refusal('cannot be read', 'format', policy.position)
    return { ...policy, json: answer.json, name: nameOf(answer.json, index) }
  })
  checkNames(policies)
  checkCost(policies)
  checkRoom(engine, policies)
  return policies.map(({ name, text, json }) => ({
    name,
    text,
    effect: json.effect,
    scope: scopeOf(json),
    unscoped: unscoped(engine, { text, json }),
    dependencies: dependenciesOf(json.conditions.map(({ body }) => body)),
    readsMetadata: readsMetadata(json),
  }))
}

/** The engine reads the result as well, so a policy never applies to more than its author wrote. */
function unscoped(engine: Engine, { text, json }: Pick<Read, 'text' | 'json'>): string {
  const result = withoutScope(text)
  const answer = engine.run((cedar) => cedar.policyToJson(result))
  if (answer.type === 'success' && isDeepStrictEqual(answer.json, { ...json, ...EVERYTHING }))
    return result
  throw refusal('cannot be read', 'format')
}

const EVERYTHING = {
  principal: { op: 'All' },
  action: { op: 'All' },
  resource: { op: 'All' },
} as const

/** Looks for the attribute name anywhere in the conditions, which covers every way to access it. */
const readsMetadata = ({ conditions }: PolicyJson): boolean =>
  JSON.stringify(conditions).includes('"metadata"')

interface Located {
  text: string
  position: Position
}

interface Read extends Located {
  name: string
  json: PolicyJson
}

function split(engine: Engine, text: string): string[] {
  const answer = understood(() => engine.run((cedar) => cedar.parts(text)))
  if (answer.type === 'failure') throw refusals(mistakes(text, answer.errors))
  const [template] = answer.policy_templates
  if (template !== undefined) {
    const position = positionOf(text.slice(0, text.indexOf(template)))
    throw refusal(
      'templates with ?principal or ?resource are not supported; name the entity',
      'not_allowed',
      position,
    )
  }
  return answer.policies
}

/** If the engine aborts on a text, it is nested deeper than the engine's stack allows. */
function understood<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof EngineFailure ? refusal('is nested too deeply', 'too_deep') : error
  }
}

/** Sorts ids numerically: the engine returns `policy0`, `policy1`, `policy10`, `policy2`. */
function inOrder(policies: readonly string[]): string[] {
  const order = policies.map((_, index) => index)
  order.sort((one, other) => (String(one) < String(other) ? -1 : 1))
  const ordered: string[] = []
  order.forEach((position, index) => {
    ordered[position] = policies[index] as string
  })
  return ordered
}

function located(text: string, policies: readonly string[]): Located[] {
  let end = 0
  return policies.map((policy) => {
    const start = text.indexOf(policy, end)
    end = start + policy.length
    return { text: policy, position: positionOf(text.slice(0, start)) }
  })
}

const nameOf = ({ annotations }: PolicyJson, index: number): string =>
  annotations && Object.hasOwn(annotations, 'id') ? (annotations.id ?? '') : `policy ${index + 1}`

function checkNames(policies: readonly Read[]) {
  const first = new Map<string, Position>()
  const problems = policies.flatMap(({ name, position }): Mistake[] => {
    const problem = flawOfName(name)
    if (problem !== undefined) return [{ problem, rule: 'format', at: position }]
    const taken = first.get(name)
    if (taken !== undefined)
      return [
        {
          problem: `the name "${name}" is already used at ${at(taken)}`,
          rule: 'duplicate',
          at: position,
        },
      ]
    first.set(name, position)
    return []
  })
  if (problems.length > 0) throw refusals(problems)
}

function flawOfName(name: string): string | undefined {
  if (name.trim() === '') return '@id must not be empty'
  if (name.length > MAX_NAME_LENGTH) return `@id must have at most ${MAX_NAME_LENGTH} characters`
  return /\p{Cc}/u.test(name) ? '@id must not contain control characters' : undefined
}

/** Every policy is evaluated for each question, so their costs add up. */
function checkCost(policies: readonly Read[]) {
  let heavy = 0
  let pattern = 0
  for (const { json, position } of policies) {
    const cost = costOf(json.conditions.map(({ body }) => body))
    heavy += cost.heavy
    pattern += cost.pattern
    const flaw = flawOf({ ...cost, heavy, pattern })
    if (flaw !== undefined) throw refusal(flaw, 'limit', position)
  }
}

function flawOf({
  levels,
  heavy,
  pattern,
  likesConstant,
  longestText,
}: PolicyCost): string | undefined {
  if (levels > MAX_LEVELS) {
    return `has more than ${MAX_LEVELS} levels; each part of a chain of && or || and each when or unless counts as one. Use a set, or several policies`
  }
  if (heavy > MAX_HEAVY) {
    return `the policies up to this one compare values of unknown size or put them into sets more than ${MAX_HEAVY} times`
  }
  if (pattern > MAX_PATTERN_LENGTH) {
    return `the patterns after like up to this policy have more than ${MAX_PATTERN_LENGTH} characters, counting ${LIKE} extra for each`
  }
  if (longestText > MAX_LITERAL_LENGTH) {
    return `strings must have at most ${MAX_LITERAL_LENGTH} characters`
  }
  return likesConstant
    ? 'like needs a variable before it: with a constant, the result never changes'
    : undefined
}

/**
 * Storing policies takes more stack than parsing or evaluating them, which `MAX_LEVELS` limits. So
 * policies that can be stored can also be evaluated.
 */
function checkRoom(engine: Engine, policies: readonly Read[]) {
  const { texts } = textsOf(policies.map(({ name, text }) => [name, text]))
  const answer = understood(() => engine.run((cedar) => cedar.keep('draft', texts)))
  if (answer.type === 'failure')
    throw refusal(`cannot be stored: ${answer.errors[0]?.message}`, 'format')
}

/** All errors, including the related ones nested in them. */
function mistakes(text: string, errors: readonly DetailedError[]): Mistake[] {
  const bytes = Buffer.from(text)
  return errors
    .flatMap((error) => [error, ...(error.related ?? [])])
    .map((error) => ({ error, start: error.sourceLocations?.[0]?.start ?? 0 }))
    .sort((one, other) => one.start - other.start)
    .map(({ error, start }, index) =>
      index < MAX_SHOWN
        ? { rule: 'format', problem: sentence(error), at: positionOfByte(bytes, start) }
        : MORE,
    )
}

const MAX_HINT_LENGTH = 80

function sentence({ message, help, sourceLocations }: DetailedError): string {
  const hint = help ?? sourceLocations?.[0]?.label ?? ''
  return hint === '' || hint.length > MAX_HINT_LENGTH
    ? shortened(message)
    : `${shortened(message)}, ${hint}`
}

const MAX_SHOWN = 20

/** Stands for a mistake that is counted, not shown. */
const MORE: Mistake = { rule: 'limit', problem: 'and more' }

function refusals(mistakes: readonly Mistake[]): AppError {
  const rest = mistakes.length - MAX_SHOWN
  const [first = MORE, ...others] = mistakes.slice(0, MAX_SHOWN)
  const last: Mistake[] = rest > 0 ? [{ ...MORE, problem: `and ${rest} more` }] : []
  const inField = (mistake: Mistake): FieldError => ({ ...mistake, field: 'policies' })
  return new AppError('invalid', [inField(first), ...[...others, ...last].map(inField)])
}

const refusal = (problem: string, rule: Rule, at?: Position): AppError =>
  refusals([{ problem, rule, at }])
