import { Elysia } from 'elysia'
import { createContexts } from '../context.ts'
import type { GateParts } from '../parts.ts'
import { identityActions } from './actions.ts'
import { identityList } from './list.ts'
import { newIdentity } from './new.ts'
import { identityPage } from './page.ts'

/** Users of a tenant: list, creation, details and actions. */
export function identityPages(parts: GateParts) {
  const contextOf = createContexts(parts.callerOf)
  const list = identityList(parts)
  const { form, create } = newIdentity(parts)
  const { show, saveMetadata } = identityPage(parts)
  const actions = identityActions(parts)
  const change = { right: 'change' } as const

  return new Elysia({
    name: 'identity pages',
    prefix: '/console/identities',
    detail: { hide: true },
  })
    .use(parts.middleware)
    .get('', (context) => list(contextOf(context)), { right: 'read' })
    .get('/new', (context) => form(contextOf(context)), change)
    .post('', (context) => create(contextOf(context)), change)
    .get('/:id', (context) => show(contextOf(context)), { right: 'read' })
    .post('/:id/metadata', (context) => saveMetadata(contextOf(context)), change)
    .post('/:id/deactivate', (context) => actions.setState(contextOf(context), 'inactive'), change)
    .post('/:id/activate', (context) => actions.setState(contextOf(context), 'active'), change)
    .post('/:id/verify', (context) => actions.mailVerification(contextOf(context)), change)
    .post('/:id/recover', (context) => actions.mailRecovery(contextOf(context)), change)
    .post(
      '/:id/credentials/:part/remove',
      (context) => actions.removeCredential(contextOf(context)),
      change,
    )
    .post(
      '/:id/accounts/:part/remove',
      (context) => actions.removeAccount(contextOf(context)),
      change,
    )
    .post('/:id/sessions/revoke', (context) => actions.revokeSessions(contextOf(context)), change)
    .post(
      '/:id/sessions/:part/revoke',
      (context) => actions.revokeSession(contextOf(context)),
      change,
    )
    .post('/:id/delete', (context) => actions.remove(contextOf(context)), { right: 'delete' })
}
