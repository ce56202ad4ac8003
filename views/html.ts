import type { VNode } from 'preact'
import { render } from 'preact-render-to-string'

/** A whole page as an answer. `policy` says what the page may load. */
export const htmlPage = (page: VNode, policy: string): Response =>
  htmlAnswer(htmlText(page), policy)

export const htmlText = (page: VNode): string => `<!doctype html>${render(page)}`

/** The same, of a page that was drawn before. */
export const htmlAnswer = (text: string, policy: string): Response =>
  new Response(text, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
    },
  })
