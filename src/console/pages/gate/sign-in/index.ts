import { Elysia } from 'elysia'
import { createContexts } from '../context.ts'
import type { GateParts } from '../parts.ts'
import { createOpenSignIn } from './open-sign-in.ts'
import { methodsPage } from './page.ts'
import { providerPage } from './provider.ts'

/** Sign-in methods and return URLs of a tenant. */
export function signInPages(parts: GateParts) {
  const contextOf = createContexts(parts.callerOf)
  const page = methodsPage(parts)
  const provider = providerPage(parts)
  const openSignIn = createOpenSignIn(parts)
  const change = { right: 'change' } as const

  return new Elysia({ name: 'sign-in pages', prefix: '/console/sign-in', detail: { hide: true } })
    .use(parts.middleware)
    .get('', (context) => page.show(contextOf(context)), { right: 'read' })
    .post('/try', (context) => openSignIn(contextOf(context)), change)
    .get('/providers/:id', (context) => provider.show(contextOf(context)), { right: 'read' })
    .post('/providers/:id/on', (context) => provider.turn(contextOf(context), true), change)
    .post('/providers/:id/off', (context) => provider.turn(contextOf(context), false), change)
    .post('/methods/:id/on', (context) => page.turn(contextOf(context), true), change)
    .post('/methods/:id/off', (context) => page.turn(contextOf(context), false), change)
    .post('/return-urls', (context) => page.saveReturnUrls(contextOf(context)), change)
}
