import { Elysia } from 'elysia'
import { visitsOf } from '../asked.ts'
import type { GateParts } from '../parts.ts'
import { identityActs } from './acts.ts'
import { identityList } from './list.ts'
import { newIdentity } from './new.ts'
import { identityPage } from './page.ts'

/** Users of a tenant: list, creation, details and actions. */
export function identityPages(parts: GateParts) {
  const asked = visitsOf(parts.callerOf)
  const list = identityList(parts)
  const { form, create } = newIdentity(parts)
  const { show, saveMetadata } = identityPage(parts)
  const acts = identityActs(parts)
  const change = { right: 'change' } as const

  return new Elysia({
    name: 'identity pages',
    prefix: '/console/identities',
    detail: { hide: true },
  })
    .use(parts.kit)
    .get('', (visit) => list(asked(visit)), { right: 'read' })
    .get('/new', (visit) => form(asked(visit)), change)
    .post('', (visit) => create(asked(visit)), change)
    .get('/:id', (visit) => show(asked(visit)), { right: 'read' })
    .post('/:id/metadata', (visit) => saveMetadata(asked(visit)), change)
    .post('/:id/deactivate', (visit) => acts.setState(asked(visit), 'inactive'), change)
    .post('/:id/activate', (visit) => acts.setState(asked(visit), 'active'), change)
    .post('/:id/verify', (visit) => acts.mailVerification(asked(visit)), change)
    .post('/:id/recover', (visit) => acts.mailRecovery(asked(visit)), change)
    .post('/:id/credentials/:part/remove', (visit) => acts.removeCredential(asked(visit)), change)
    .post('/:id/accounts/:part/remove', (visit) => acts.removeAccount(asked(visit)), change)
    .post('/:id/sessions/revoke', (visit) => acts.revokeSessions(asked(visit)), change)
    .post('/:id/sessions/:part/revoke', (visit) => acts.revokeSession(asked(visit)), change)
    .post('/:id/delete', (visit) => acts.remove(asked(visit)), { right: 'delete' })
}
