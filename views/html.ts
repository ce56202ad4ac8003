import type { VNode } from 'preact'
import { render } from 'preact-render-to-string'

/** A whole page as an answer. `policy` says what the page may load. */
export const htmlPage = (page: VNode, policy: string): Response =>
  new Response(`<!doctype html>${render(page)}`, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
    },
  })
