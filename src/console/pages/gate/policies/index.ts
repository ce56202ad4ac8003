import { Elysia } from 'elysia'
import { createContexts } from '../context.ts'
import type { GateParts } from '../parts.ts'
import { decisionPages } from './decisions.ts'
import { policyPage } from './page.ts'

/** Policies of a tenant: editor, trial and decisions. */
export function policyPages(parts: GateParts) {
  const contextOf = createContexts(parts.callerOf)
  const page = policyPage(parts)
  const decisions = decisionPages(parts)
  const change = { right: 'change' } as const

  return new Elysia({ name: 'policy pages', prefix: '/console/policies', detail: { hide: true } })
    .use(parts.middleware)
    .get('', (context) => page.show(contextOf(context)), { right: 'read' })
    .post('', (context) => page.save(contextOf(context)), change)
    .post('/starter', (context) => page.takeStarterSet(contextOf(context)), change)
    .get('/decisions', (context) => decisions.list(contextOf(context)), { right: 'read' })
    .get('/decisions/:id', (context) => decisions.show(contextOf(context)), { right: 'read' })
}
