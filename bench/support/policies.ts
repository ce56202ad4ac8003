import type { Question } from '../../src/engines/gate/authorization/policy/question.ts'
import { ROLE } from './gate.ts'

/** What is asked of `AUTHORIZE` about a person: the starter set permits it, and so does `policies`. */
export const question = (subject: string) => ({
  subject,
  action: 'documents.read',
  resource: 'document:4000000',
  context: { ip: '192.0.2.7', channel: 'web', total: 120 },
})

/** The same for the policies themselves, once it is known who asks about what. */
export const asked: Question = {
  tenantId: '0198c1f2-7a44-7c31-9b60-5d2f6c1e8a90',
  principal: {
    kind: 'identity',
    id: '0198c1f2-7a44-7c31-9b60-5d2f6c1e8a91',
    email: 'ada@example.com',
    isEmailVerified: true,
    roles: [ROLE],
    metadata: { roles: [ROLE], department: 'Research' },
  },
  action: 'documents.read',
  resource: { kind: 'other', type: ['document'], id: '4000000' },
  context: { ip: '192.0.2.7', channel: 'web', total: 120 },
}

/** So many policies in Cedar, one for each role; of those one permits what is asked. */
export const policies = (count: number): string =>
  Array.from({ length: count }, (_, n) => policy(n)).join('\n')

const policy = (n: number) => `@id("documents-${n}")
permit (principal in Role::"team-${n}", action in Action::"documents.*", resource is Document)
when { context.total < 1000 };`
