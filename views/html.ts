import type { VNode } from 'preact'
import { render } from 'preact-render-to-string'

/** A whole page as an answer. `policy` says what the page may load. */
export const htmlPage = (page: VNode, policy: string): Response =>
  new Response(htmlText(page), {
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
  })

export const htmlText = (page: VNode): string => `<!doctype html>${render(page)}`

/** A piece of a page, to be put into one that is open. */
export const fragmentText = (piece: VNode): string => render(piece)
