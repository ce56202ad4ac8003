import { Elysia } from 'elysia'
import { contextsOf } from '../asked.ts'
import type { GateParts } from '../parts.ts'
import { decisionPages } from './decisions.ts'
import { policyPage } from './page.ts'

/** Policies of a tenant: editor, trial and decisions. */
export function policyPages(parts: GateParts) {
  const asked = contextsOf(parts.callerOf)
  const page = policyPage(parts)
  const decisions = decisionPages(parts)
  const change = { right: 'change' } as const

  return new Elysia({ name: 'policy pages', prefix: '/console/policies', detail: { hide: true } })
    .use(parts.middleware)
    .get('', (context) => page.show(asked(context)), { right: 'read' })
    .post('', (context) => page.save(asked(context)), change)
    .post('/starter', (context) => page.takeStarterSet(asked(context)), change)
    .get('/decisions', (context) => decisions.list(asked(context)), { right: 'read' })
    .get('/decisions/:id', (context) => decisions.show(asked(context)), { right: 'read' })
}
