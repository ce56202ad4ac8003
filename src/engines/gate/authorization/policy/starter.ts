import { conclude, type PolicyDecision } from './policy-decision.ts'
import type { Person, Question } from './question.ts'

/** The policies of a tenant that has not written its own, and the text that editing starts from. */
export const STARTER_SET = `// The starter set. Nothing is allowed unless a policy permits it, and forbid beats permit.
// An action such as keys.read is in Action::"keys.*", Action::"*.read" and Action::"*".

@id("own-tenant-reads")
permit (
  principal is Identity,
  action in [Action::"*.read", Action::"*.list"],
  resource
) when {
  resource in principal.tenant
};

@id("own-identity")
permit (principal is Identity, action, resource is Identity)
when {
  principal == resource
};

// Roles are those in the identity's metadata_public.roles.
@id("tenant-admins")
permit (principal in Role::"admin", action, resource)
when {
  resource in principal.tenant
};
`

/** The policies by name, listed without starting an engine. */
export const starterPolicies = (): { name: string; text: string }[] =>
  STARTER_SET.split(/\n(?=@id)/).flatMap((text) => {
    const [, name] = /^@id\("([^"]+)"\)/.exec(text) ?? []
    return name === undefined ? [] : [{ name, text: text.replace(/\n+(\/\/[^\n]*\n*)*$/, '') }]
  })

/** The same rules as code: takes microseconds and starts no engine. */
export function decideByStarterSet(question: Question): PolicyDecision {
  const { principal } = question
  return conclude({
    permits: principal.kind === 'identity' ? permits(question, principal) : [],
    forbids: [],
    failures: [],
  })
}

function permits(question: Question, person: Person): string[] {
  const { action, resource } = question
  const names: string[] = []
  const isOfTenant = isOfOwnTenant(question)
  if (isOfTenant && isReading(action)) names.push('own-tenant-reads')
  if (resource.kind === 'identity' && resource.id === person.id) names.push('own-identity')
  if (isOfTenant && person.roles.includes('admin')) names.push('tenant-admins')
  return names
}

const isReading = (action: string) => action.endsWith('.read') || action.endsWith('.list')

/** The caller has checked everything else. */
const isOfOwnTenant = ({ tenantId, resource }: Question): boolean =>
  resource.kind !== 'tenant' || resource.id === tenantId

/** Ignores line endings, which browsers change when they submit the text. */
export const isStarterSet = (text: string): boolean =>
  text === STARTER_SET ||
  (text.length < 2 * STARTER_SET.length &&
    text.replaceAll('\r\n', '\n').trim() === STARTER_SET.trim())
