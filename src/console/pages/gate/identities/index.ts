import { Elysia } from 'elysia'
import { contextsOf } from '../asked.ts'
import type { GateParts } from '../parts.ts'
import { identityActs } from './acts.ts'
import { identityList } from './list.ts'
import { newIdentity } from './new.ts'
import { identityPage } from './page.ts'

/** Users of a tenant: list, creation, details and actions. */
export function identityPages(parts: GateParts) {
  const asked = contextsOf(parts.callerOf)
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
    .use(parts.middleware)
    .get('', (context) => list(asked(context)), { right: 'read' })
    .get('/new', (context) => form(asked(context)), change)
    .post('', (context) => create(asked(context)), change)
    .get('/:id', (context) => show(asked(context)), { right: 'read' })
    .post('/:id/metadata', (context) => saveMetadata(asked(context)), change)
    .post('/:id/deactivate', (context) => acts.setState(asked(context), 'inactive'), change)
    .post('/:id/activate', (context) => acts.setState(asked(context), 'active'), change)
    .post('/:id/verify', (context) => acts.mailVerification(asked(context)), change)
    .post('/:id/recover', (context) => acts.mailRecovery(asked(context)), change)
    .post(
      '/:id/credentials/:part/remove',
      (context) => acts.removeCredential(asked(context)),
      change,
    )
    .post('/:id/accounts/:part/remove', (context) => acts.removeAccount(asked(context)), change)
    .post('/:id/sessions/revoke', (context) => acts.revokeSessions(asked(context)), change)
    .post('/:id/sessions/:part/revoke', (context) => acts.revokeSession(asked(context)), change)
    .post('/:id/delete', (context) => acts.remove(asked(context)), { right: 'delete' })
}
