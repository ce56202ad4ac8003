import type { Caller, KeyCaller } from '../../../platform/caller.ts'
import type { Resources } from '../../../platform/resources.ts'
import type { JsonObject } from '../identities/documents/json.ts'
import { metadataOf } from '../identities/present.ts'
import type { IdentityRow } from '../identities/store.ts'
import type { AuthorizationEvents } from '../metrics.ts'
import type { TenantSettings } from '../settings/index.ts'
import type { Store } from '../store.ts'
import { questionOf } from './authzen.ts'
import type { Decisions } from './decisions.ts'
import type { Answer, Evaluated, Evaluation, Question } from './model.ts'
import { checkContext } from './policy/context.ts'
import type { Pdp } from './policy/pdp.ts'
import type { PolicyDecision } from './policy/policy-decision.ts'
import {
  checkAction,
  checkName,
  type Person,
  type Principal,
  parseResource,
  type Resource,
} from './policy/question.ts'
import type { SubjectOf } from './subjects.ts'

export type Authorization = ReturnType<typeof createAuthorization>

/** Decides whether a subject may perform an action on a resource: contract/gate, authorization. */
export function createAuthorization(parts: {
  store: Store
  settings: TenantSettings
  subjectOf: SubjectOf
  resources: Resources
  pdp: Pdp
  decisions: Decisions
  events: AuthorizationEvents
}) {
  const { store, settings, subjectOf, resources, pdp, decisions, events } = parts

  /** Answers a question and stores the decision with everything it was based on. */
  const authorize = (caller: KeyCaller, question: Question): Promise<Answer> =>
    answer(caller, question, parseResource(question.resource))

  /** Evaluates a question without recording, counting or publishing it. */
  function preview({ tenantId }: Caller, asked: Question): PolicyDecision {
    const { subject, action, context = {} } = asked
    const resource = parseResource(asked.resource)
    checkName(subject, 'subject')
    checkAction(action)
    return decide(tenantId, subject, action, resource, checkContext(context))
  }

  /** Answers an OpenID AuthZEN request (Authorization API 1.0). */
  async function evaluate(caller: KeyCaller, evaluation: Evaluation): Promise<Evaluated> {
    const { question, resource } = questionOf(evaluation)
    const { allowed, decision_id, reason } = await answer(caller, question, resource)
    return { decision: allowed, context: { decision_id, reason } }
  }

  async function answer(
    caller: KeyCaller,
    { subject, action, resource: name, context: given = {} }: Question,
    resource: Resource,
  ): Promise<Answer> {
    checkName(subject, 'subject')
    checkAction(action)
    const context = checkContext(given)
    const { allowed, reason, policies, policiesVersion } = decide(
      caller.tenantId,
      subject,
      action,
      resource,
      context,
    )
    const made = { subject, action, resource: name, context, reason, policies, policiesVersion }
    const id = await decisions.keep(caller, { ...made, isAllowed: allowed })
    events.decided(allowed)
    return { allowed, decision_id: id, reason }
  }

  function decide(
    tenantId: string,
    subject: string,
    action: string,
    resource: Resource,
    context: JsonObject,
  ): PolicyDecision & { policiesVersion: number } {
    const { policies: text, policiesVersion } = settings.of(tenantId)
    const version = text === null ? 0 : policiesVersion
    const custom = text === null ? null : { tenantId, version, text }
    const principal = principalOf(tenantId, subject)
    const decided =
      typeof principal === 'string'
        ? denied(principal)
        : isOwn(tenantId, resource)
          ? pdp.decide({ tenantId, principal, action, resource, context }, custom)
          : denied('the tenant has no such resource')
    return { ...decided, policiesVersion: version }
  }

  /** The principal, or the reason why the answer is no regardless of policies. */
  function principalOf(tenantId: string, name: string): Principal | string {
    const subject = subjectOf(tenantId, name)
    if (subject.kind === 'service') return { kind: 'service', id: name }
    if (subject.kind === 'unknown') return 'the subject is unknown'
    return subject.person.state === 'active' ? personOf(subject.person) : 'the subject is inactive'
  }

  function personOf(row: IdentityRow): Person {
    const metadata = metadataOf(row)
    return {
      kind: 'identity',
      id: row.id,
      email: row.email,
      isEmailVerified: store.addresses.of(row.tenantId, row.id)?.verifiedAt != null,
      roles: rolesIn(metadata),
      metadata,
    }
  }

  /** A resource of another tenant cannot be told from one that does not exist. */
  function isOwn(tenantId: string, resource: Resource): boolean {
    switch (resource.kind) {
      case 'tenant':
        return resource.id === tenantId
      case 'identity':
        return store.identities.find(tenantId, resource.id) !== undefined
      default:
        return resources.belongsTo(tenantId, resource.type.join(':'), resource.id)
    }
  }

  return { authorize, evaluate, preview }
}

const denied = (reason: string): PolicyDecision => ({ allowed: false, policies: [], reason })

/** Reads roles from metadata, which users cannot change themselves, unlike traits. */
const rolesIn = ({ roles }: JsonObject): string[] =>
  Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : []
