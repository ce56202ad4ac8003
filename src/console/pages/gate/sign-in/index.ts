import { Elysia } from 'elysia'
import { contextsOf } from '../asked.ts'
import type { GateParts } from '../parts.ts'
import { methodsPage } from './page.ts'
import { providerPage } from './provider.ts'
import { signInTrial } from './trial.ts'

/** Sign-in methods and return URLs of a tenant. */
export function signInPages(parts: GateParts) {
  const asked = contextsOf(parts.callerOf)
  const page = methodsPage(parts)
  const provider = providerPage(parts)
  const begin = signInTrial(parts)
  const change = { right: 'change' } as const

  return new Elysia({ name: 'sign-in pages', prefix: '/console/sign-in', detail: { hide: true } })
    .use(parts.middleware)
    .get('', (context) => page.show(asked(context)), { right: 'read' })
    .post('/try', (context) => begin(asked(context)), change)
    .get('/providers/:id', (context) => provider.show(asked(context)), { right: 'read' })
    .post('/providers/:id/on', (context) => provider.turn(asked(context), true), change)
    .post('/providers/:id/off', (context) => provider.turn(asked(context), false), change)
    .post('/methods/:id/on', (context) => page.turn(asked(context), true), change)
    .post('/methods/:id/off', (context) => page.turn(asked(context), false), change)
    .post('/return-urls', (context) => page.saveReturnUrls(asked(context)), change)
}
