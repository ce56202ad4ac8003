import { createPdp } from '../../../../../src/engines/gate/authorization/policy/pdp.ts'
import {
  type Person,
  parseResource,
  type Question,
} from '../../../../../src/engines/gate/authorization/policy/question.ts'
import { AppError } from '../../../../../src/platform/errors.ts'

export const TENANT = '0192-tenant'

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

type Given = Partial<Omit<Question, 'resource'>> & { resource?: string }

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

/** What these policies say, as if they had just been saved. */
export const decide = (text: string, of: Given = {}) => {
  const asked = question(of)
  return pdp.decide(asked, { tenantId: asked.tenantId, version: ++version, text })
}

/** Whether an action is permitted under a condition that Cedar is to evaluate. */
export const holds = (condition: string, of: Given = {}): boolean | string => {
  const { allowed, reason } = decide(
    `permit (principal, action, resource) when { ${condition} };`,
    of,
  )
  return allowed || (reason === 'no policy permits this' ? false : reason)
}

export const check = (text: string) => pdp.check(text)

/** The message with which something is refused as invalid. */
export function refusalOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid') return error.message
    throw error
  }
  throw new Error('not refused')
}
