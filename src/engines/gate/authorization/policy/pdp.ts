import type { AuthorizationAnswer } from '@cedar-policy/cedar-wasm/web'
import { createEngine, EngineFailure } from './engine.ts'
import { type Asked, asked } from './entities.ts'
import { metadataForPolicies } from './metadata.ts'
import { type CustomPolicies, createParsedPolicies } from './parsed-policies.ts'
import { createPolicyCache } from './policy-cache.ts'
import { conclude, type Outcome, type PolicyDecision, unanswerable } from './policy-decision.ts'
import type { PolicySet } from './policy-set.ts'
import type { PolicyTexts } from './policy-texts.ts'
import type { Principal, Question } from './question.ts'
import { decideByStarterSet, isStarterSet } from './starter.ts'

export type Pdp = ReturnType<typeof createPdp>

const MB = 1024 * 1024

/** Maximum number of tenants whose policies stay parsed, and of groups and text in the engine. */
const MAX_SETS = 200
const MAX_GROUPS = 2000
const MAX_TEXT_BYTES = MB

/** A question in more groups than this is faster with all policies at once. */
const MAX_ASKED = 4

/** Policies that search a longer list take too long per question. */
const MAX_ROLES = 100

/** Users' text is parsed by a separate engine, whose failure discards no parsed policies. */
export function createPdp({ mostSets = MAX_SETS } = {}) {
  const drafts = createEngine({ mostMemory: 64 * MB })
  const engine = createEngine({ mostMemory: 256 * MB })
  const kept = createPolicyCache({ most: MAX_GROUPS, mostText: MAX_TEXT_BYTES })
  const parsed = createParsedPolicies({ drafts, most: mostSets })

  /** Tenants without their own policies, or with the starter set, need no engine. */
  function decide(question: Question, custom: CustomPolicies | null): PolicyDecision {
    if (custom === null || isStarterSet(custom.text)) return decideByStarterSet(question)
    if (custom.tenantId !== question.tenantId) throw new Error('policies of another tenant')
    const flaw = flawOf(question.principal)
    if (flaw !== undefined) return unanswerable(flaw)
    const result = parsed.parsedOf(custom)
    if ('problem' in result) return unanswerable(result.problem)
    const metadata = metadataFor(result.set, question.principal)
    if ('problem' in metadata) return unanswerable(metadata.problem)
    try {
      return conclude(evaluate(asked(question, metadata.held), result.set))
    } catch (error) {
      if (error instanceof UnreadableQuestion) return unanswerable(error.message)
      if (error instanceof EngineFailure) return givenUp(custom)
      throw error
    }
  }

  /** Evaluates the policies whose scope the question is in. */
  function evaluate(call: Asked, set: PolicySet): Outcome {
    const groups = set.groupsFor(call)
    if (groups.length > MAX_ASKED) return ask(call, set.all)
    return joined(
      groups.map((group) => {
        const { entities } = group.needsEntities ? call : { entities: [] }
        return set.outcomeOf(group, call, () => ask({ ...call, entities }, group))
      }),
    )
  }

  function ask(call: Asked, policies: PolicyTexts): Outcome {
    return outcomeOf(
      engine.run((cedar) => {
        const preparsedPolicySetId = kept.slotOf(cedar, policies, engine.generation())
        return cedar.ask({ ...call, preparsedPolicySetId })
      }),
    )
  }

  /** A failure discards all tenants' parsed policies, so it must not repeat for each question. */
  function givenUp(custom: CustomPolicies): PolicyDecision {
    const problem = 'the policies could not be evaluated'
    parsed.giveUp(custom, problem)
    return unanswerable(problem)
  }

  const isStarted = () => engine.isStarted() || drafts.isStarted()

  return { decide, check: parsed.check, isStarted }
}

/** The reason why policies cannot be evaluated for a principal. */
function flawOf(principal: Principal): string | undefined {
  if (principal.kind === 'service') return undefined
  const { roles } = principal
  if (roles.length > MAX_ROLES) return `the subject has more than ${MAX_ROLES} roles`
  if (!roles.every((role) => role.isWellFormed()))
    return 'a role of the subject is not valid Unicode'
  return undefined
}

/** Omitted for policies that don't read metadata, so unsuitable metadata doesn't matter to them. */
const metadataFor = ({ readsMetadata }: PolicySet, principal: Principal) =>
  principal.kind === 'identity' && readsMetadata
    ? metadataForPolicies(principal.metadata)
    : { held: undefined }

class UnreadableQuestion extends Error {
  override name = 'UnreadableQuestion'
}

/** The deciding policies are all that permit if none forbids, otherwise all that forbid. */
function outcomeOf(answer: AuthorizationAnswer): Outcome {
  if (answer.type === 'failure')
    throw new UnreadableQuestion(`the request cannot be evaluated: ${answer.errors[0]?.message}`)
  const { decision, diagnostics } = answer.response
  const isAllowed = decision === 'allow'
  return {
    permits: isAllowed ? diagnostics.reason : [],
    forbids: isAllowed ? [] : diagnostics.reason,
    failures: diagnostics.errors.map(({ policyId, error }) => ({
      policy: policyId,
      message: error.message,
    })),
  }
}

const joined = (outcomes: readonly Outcome[]): Outcome => ({
  permits: outcomes.flatMap(({ permits }) => permits),
  forbids: outcomes.flatMap(({ forbids }) => forbids),
  failures: outcomes.flatMap(({ failures }) => failures),
})
