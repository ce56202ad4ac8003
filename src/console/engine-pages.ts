import type { VNode } from 'preact'
import { FlowDocument } from '../../views/flows/flow.tsx'
import { NoticeDocument } from '../../views/flows/notice.tsx'
import { htmlPage } from '../../views/html.ts'
import { SandboxDocument } from '../../views/sandbox/page.tsx'
import type { Pages as FlowPages } from '../engines/gate/sign-in/flows/pages.ts'
import type { Pages as SandboxPages } from '../engines/passepartout/sandbox/pages.ts'
import { flowPageContentPolicy } from '../http/security-headers.ts'

/** Renders flows and their results, for tenants without their own pages. */
export const createFlowPages = (): FlowPages => ({
  flow: (page) => {
    const targets = [URL.parse(page.flow.ui.action)?.origin ?? '', ...(page.formTargets ?? [])]
    return answer(FlowDocument({ page }), page.status, targets)
  },
  notice: (page) => answer(NoticeDocument({ page }), page.status, []),
})

function answer(page: VNode, status: number, formTargets: string[]): Response {
  const { body, headers } = htmlPage(page, flowPageContentPolicy(formTargets))
  return new Response(body, { status, headers })
}

/** Allows a form to the page itself and a style sheet, and no scripts. */
const SANDBOX_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "script-src 'none'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Renders the chat with the test bot. */
export const createSandboxPages = (): SandboxPages => ({
  sandbox: (page) => {
    const { body, headers } = htmlPage(SandboxDocument({ page }), SANDBOX_POLICY)
    return new Response(body, { status: page.status, headers })
  },
})
