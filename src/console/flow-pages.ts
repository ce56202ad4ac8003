import type { VNode } from 'preact'
import { FlowDocument } from '../../views/flows/flow.tsx'
import { NoticeDocument } from '../../views/flows/notice.tsx'
import { htmlPage } from '../../views/html.ts'
import type { Pages } from '../engines/gate/sign-in/flows/pages.ts'
import { flowPageContentPolicy } from '../http/security-headers.ts'

/** Renders flows and their results, for tenants without their own pages. */
export const createFlowPages = (): Pages => ({
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
