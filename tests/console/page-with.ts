import { createAddresses } from '../../src/console/addresses.ts'
import { createLayout } from '../../src/console/layout.ts'
import { createConsoleMiddleware } from '../../src/console/middleware.ts'
import type { Page } from '../../src/console/page.tsx'
import { PAGES } from '../../src/console/pages/index.ts'
import { createPages } from '../../src/console/serve-pages.tsx'
import type { Services } from '../../src/console/services.ts'
import { createTurns } from '../../src/http/turns.ts'
import { type Console, pagesOf } from './fixture.ts'

/** Pages that work with other services than those of the application, for a session. */
export function pageWith(
  app: Console,
  cookie: string,
  page: Page | Page[],
  others: Partial<Services>,
) {
  const baseUrl = () => 'http://localhost'
  const middleware = createConsoleMiddleware({
    currentOperator: app.operators.currentOperator,
    baseUrl,
    addressOf: () => undefined,
    turns: createTurns(),
    maxBody: 1000,
  })
  const layout = createLayout({ baseUrl, nearnessOf: app.platform.metering.nearnessOf })
  const services = { ...app.platform, ...others, baseUrl, middleware, layout } as Services
  const pages = createPages(services, createAddresses(PAGES), [page].flat())
  const raw = async (path: string, init?: RequestInit) => {
    const response = await pages.handle(new Request(`http://localhost${path}`, init))
    return { status: response.status, headers: response.headers, body: await response.text() }
  }
  return pagesOf({ raw, operators: app.operators }, cookie)
}
