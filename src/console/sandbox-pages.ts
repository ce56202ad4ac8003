import { htmlPage } from '../../views/html.ts'
import { SandboxDocument } from '../../views/sandbox/page.tsx'
import type { Pages } from '../engines/passepartout/sandbox/pages.ts'

/** Allows a form to the page itself and a style sheet, and no scripts. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "script-src 'none'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Renders the chat with the test bot. */
export const createSandboxPages = (): Pages => ({
  sandbox: (page) => {
    const { body, headers } = htmlPage(SandboxDocument({ page }), POLICY)
    return new Response(body, { status: page.status, headers })
  },
})
