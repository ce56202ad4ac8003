import type { VNode } from 'preact'
import { render } from 'preact-render-to-string'

/** A whole page as an answer. `policy` says what the page may load. */
export const htmlPage = (page: VNode, policy: string): Response =>
  htmlAnswer(htmlText(page), policy)

export const htmlText = (page: VNode): string => `<!doctype html>${render(page)}`

/** A whole page as an answer, of one that was drawn before. */
export const htmlAnswer = (text: string, policy: string): Response =>
  new Response(text, {
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
  })

/** A piece of a page, to be put into one that is open. */
export const fragmentText = (piece: VNode): string => render(piece)
