import type { VNode } from 'preact'
import { FlowDocument } from '../../views/flows/flow.tsx'
import { isPassword } from '../../views/flows/nodes.ts'
import { NoticeDocument } from '../../views/flows/notice.tsx'
import { REVEAL_SCRIPT } from '../../views/flows/reveal.tsx'
import { htmlPage } from '../../views/html.ts'
import { SandboxDocument } from '../../views/sandbox/page.tsx'
import type { Pages as FlowPages } from '../engines/gate/sign-in/flows/pages.ts'
import type { Pages as SandboxPages } from '../engines/passepartout/sandbox/pages.ts'
import { flowPageContentPolicy } from '../http/security-headers.ts'

/** Renders flows and their results, for tenants without their own pages. */
export const createFlowPages = (): FlowPages => ({
  flow: (page) => {
    const targets = [URL.parse(page.flow.ui.action)?.origin ?? '', ...(page.formTargets ?? [])]
    const script = page.flow.ui.nodes.some(isPassword) ? REVEAL_SCRIPT : undefined
    return answer(FlowDocument({ page }), page.status, flowPageContentPolicy(targets, script))
  },
  notice: (page) => answer(NoticeDocument({ page }), page.status, flowPageContentPolicy([])),
})

function answer(page: VNode, status: number, policy: string): Response {
  const { body, headers } = htmlPage(page, policy)
  return new Response(body, { status, headers })
}

/** Allows a form to the page itself, style sheets and fonts, and no scripts. */
const SANDBOX_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "script-src 'none'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Renders the chat with the test bot. */
export const createSandboxPages = (): SandboxPages => ({
  sandbox: (page) => {
    return answer(SandboxDocument({ page }), page.status, SANDBOX_POLICY)
  },
})
