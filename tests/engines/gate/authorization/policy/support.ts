import { createPdp } from '../../../../../src/engines/gate/authorization/policy/pdp.ts'
import {
  type Person,
  parseResource,
  type Question,
} from '../../../../../src/engines/gate/authorization/policy/question.ts'
import { refusalOf } from '../../identities/documents/support.ts'

export const TENANT = '0192-tenant'
export const SERVICE = { kind: 'service', id: 'alice' } as const
export const PERMIT = 'permit (principal, action, resource);'
export const FORBID = 'forbid (principal, action, resource);'

export const permitWhen = (condition: string) =>
  `permit (principal, action, resource) when { ${condition} };`
export const forbidWhen = (condition: string) =>
  `forbid (principal, action, resource) when { ${condition} };`

/** Alice, without roles or metadata unless given. */
export const person = (of: Partial<Person> = {}): Person => ({
  kind: 'identity',
  id: 'alice',
  email: 'alice@example.com',
  isEmailVerified: true,
  roles: [],
  metadata: {},
  ...of,
})

export type Given = Partial<Omit<Question, 'resource'>> & { resource?: string }

/** May Alice do `documents.edit` with `document:42`? */
export const question = ({ resource = 'document:42', ...of }: Given = {}): Question => ({
  tenantId: TENANT,
  principal: person(),
  action: 'documents.edit',
  context: {},
  ...of,
  resource: parseResource(resource),
})

const pdp = createPdp()
let version = 0

/** Decides by policies that have just been saved. */
export const decide = (text: string, of: Given = {}) => {
  const asked = question(of)
  return pdp.decide(asked, { tenantId: asked.tenantId, version: ++version, text })
}

/** Whether an action is permitted under a condition, or why it could not be evaluated. */
export const holds = (condition: string, of: Given = {}): boolean | string => {
  const { allowed, reason } = decide(permitWhen(condition), of)
  return allowed || (reason === 'no policy permits this' ? false : reason)
}

export const check = pdp.check

/** The message with which a text is refused; empty if it is not. */
export const refusal = (text: string): string => refusalOf(() => check(text))?.message ?? ''
