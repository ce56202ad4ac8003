import type { AuthorizationAnswer } from '@cedar-policy/cedar-wasm/web'
import { createEngine, EngineFailure } from './engine.ts'
import { type Asked, asked } from './entities.ts'
import { metadataForPolicies } from './metadata.ts'
import { type CustomPolicies, createParsedPolicies } from './parsed-policies.ts'
import { createPolicyCache, type PolicySet } from './policy-cache.ts'
import { conclude, type PolicyDecision, unanswerable } from './policy-decision.ts'
import type { Principal, Question } from './question.ts'
import { decideByStarterSet, isStarterSet } from './starter.ts'

export type Pdp = ReturnType<typeof createPdp>

const MB = 1024 * 1024

/** Maximum number of tenants whose policies stay parsed, and the maximum size of their text. */
const MAX_SETS = 200
const MAX_TEXT_BYTES = MB

/** Policies that search a longer list take too long per question. */
const MAX_ROLES = 100

/** Users' text is parsed by a separate engine, whose failure discards no parsed policies. */
export function createPdp({ mostSets = MAX_SETS, mostText = MAX_TEXT_BYTES } = {}) {
  const drafts = createEngine({ mostMemory: 64 * MB })
  const engine = createEngine({ mostMemory: 256 * MB })
  const kept = createPolicyCache({ mostSets, mostText })
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
      return ask(asked(question, metadata.held), result.set)
    } catch (error) {
      if (!(error instanceof EngineFailure)) throw error
      return givenUp(custom)
    }
  }

  function ask(call: Asked, set: PolicySet): PolicyDecision {
    return decidedBy(
      engine.run((cedar) => {
        const preparsedPolicySetId = kept.slotOf(cedar, set, engine.generation())
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
const metadataFor = ({ policies }: PolicySet, principal: Principal) =>
  principal.kind === 'identity' && policies.some(({ readsMetadata }) => readsMetadata)
    ? metadataForPolicies(principal.metadata)
    : { held: undefined }

/** The deciding policies are all that permit if none forbids, otherwise all that forbid. */
function decidedBy(answer: AuthorizationAnswer): PolicyDecision {
  if (answer.type === 'failure') {
    return unanswerable(`the request cannot be evaluated: ${answer.errors[0]?.message}`)
  }
  const { decision, diagnostics } = answer.response
  const isAllowed = decision === 'allow'
  return conclude({
    permits: isAllowed ? diagnostics.reason : [],
    forbids: isAllowed ? [] : diagnostics.reason,
    failures: diagnostics.errors.map(({ policyId, error }) => ({
      policy: policyId,
      message: error.message,
    })),
  })
}
